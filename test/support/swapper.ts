import { spawn } from 'node:child_process'
import { once } from 'node:events'

/**
 * Starts a process that replaces `folder` by a link to `outside` and back, as fast as it can. The
 * result ends it, and leaves the folder in its place.
 */
export async function startSwapper(
  folder: string,
  outside: string,
): Promise<() => Promise<{ swaps: number }>> {
  const script = `
    const { renameSync, symlinkSync, unlinkSync, writeSync } = require('node:fs')
    const [folder, outside] = process.argv.slice(1)
    let swaps = 0, ended = false
    process.stdin.on('data', () => { ended = true })
    const some = () => {
      for (let i = 0; i < 200; i += 1, swaps += 1) {
        renameSync(folder, folder + '.kept'); symlinkSync(outside, folder)
        unlinkSync(folder); renameSync(folder + '.kept', folder)
      }
      if (!ended) return setImmediate(some)
      writeSync(1, String(swaps))
      process.exit(0)
    }
    writeSync(1, 'ready ')
    some()`
  const swapper = spawn(process.execPath, ['-e', script, folder, outside], {
    stdio: ['pipe', 'pipe', 'inherit'],
  })
  let said = ''
  swapper.stdout.on('data', (data) => {
    said += data
  })
  await once(swapper.stdout, 'data')
  return async () => {
    const closed = once(swapper, 'close')
    swapper.stdin.end('end')
    await closed
    return { swaps: Number(said.replace('ready ', '')) }
  }
}
