import { spawn } from 'node:child_process'
import { once } from 'node:events'
import { join } from 'node:path'
import { describe, expect, it } from 'vitest'
import { createUids } from '../../services/test-runner/sandbox/uids.ts'
import { productRoot } from '../../shared/config.ts'

const isLinux = process.platform === 'linux'
/** Not those that other tests' sandboxes use meanwhile. */
const range = { first: 65_501, last: 65_506 }

describe.skipIf(!isLinux)('users for test runs', () => {
  it('are not the same for two test-runners of one machine, and come back when they are free', async () => {
    const one = createUids(true, range)
    const two = createUids(true, range)
    const taken = [await one.take(), await two.take(), await one.take(), await two.take()]
    expect(new Set(taken).size).toBe(4)
    one.giveBack(Number(taken[0]))
    const again = await two.take()
    expect(taken.slice(1)).not.toContain(again)
    for (const uid of [taken[2]]) one.giveBack(Number(uid))
    for (const uid of [taken[1], taken[3], again]) two.giveBack(Number(uid))
  })

  it('come back when the test-runner that had one is killed', async () => {
    const module = join(productRoot, 'services/test-runner/sandbox/uids.ts')
    const code = `import { createUids } from ${JSON.stringify(module)}
      process.stdout.write(String(await createUids(true, ${JSON.stringify(range)}).take()))
      setInterval(() => {}, 1000)`
    const child = spawn(process.execPath, ['--input-type=module', '-e', code], {
      stdio: ['ignore', 'pipe', 'inherit'],
    })
    const [printed] = await once(child.stdout, 'data')
    const uid = Number(printed)
    const here = createUids(true, range)
    const during = await takeAll(here)
    expect(during).not.toContain(uid)
    for (const each of during) here.giveBack(each)
    child.kill('SIGKILL')
    await once(child, 'exit')
    const after = await takeAll(here)
    for (const each of after) here.giveBack(each)
    expect(after).toContain(uid)
  })

  it('run out with an error that says what to do', async () => {
    const uids = createUids(true, range)
    const all = await takeAll(uids)
    expect(all.length).toBeGreaterThan(0)
    for (const each of all) uids.giveBack(each)
  })
})

/** All that are free now. */
async function takeAll(uids: ReturnType<typeof createUids>): Promise<number[]> {
  const taken: number[] = []
  for (;;) {
    try {
      taken.push(Number(await uids.take()))
    } catch (error) {
      expect(error).toMatchObject({
        message: expect.stringContaining('all users for test runs are taken'),
        hint: expect.stringContaining('ASTRA_TEST_CONCURRENCY'),
      })
      return taken
    }
  }
}
