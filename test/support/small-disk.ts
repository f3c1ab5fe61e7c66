import { execFile, spawn } from 'node:child_process'
import { once } from 'node:events'
import { rm, writeFile } from 'node:fs/promises'
import { join } from 'node:path'
import { promisify } from 'node:util'
import { expect } from 'vitest'

const run = promisify(execFile)

/** A file system in memory with a size, that only processes started through it see. */
export type SmallDisk = {
  /** The program that starts another one there, for `startService`. */
  through: readonly string[]
  /** Takes all the room that is left. */
  fill(): Promise<void>
  /** Gives that room back. */
  free(): Promise<void>
  setWritable(writable: boolean): Promise<void>
  remove(): Promise<void>
}

const isRoot = process.getuid?.() === 0
const APART = isRoot ? ['--mount'] : ['--user', '--map-root-user', '--mount']
const JOIN = isRoot ? ['--mount'] : ['--user', '--preserve-credentials', '--mount']

/** Why this machine lets us mount nothing, said once for a skipped test; null when it does. */
export async function noSmallDisk(): Promise<string | null> {
  try {
    await run('unshare', [...APART, 'mount', '-t', 'tmpfs', '-o', 'size=1m', 'none', '/mnt'])
    return null
  } catch (error) {
    const text = error instanceof Error ? error.message : String(error)
    const reason = `no file system can be mounted here: ${text.trim().split('\n').at(-1)}`
    process.stderr.write(`skipped: ${reason}\n`)
    return reason
  }
}

/** Mounts it on `folder`, in a mount namespace that ends with `remove`. */
export async function mountSmallDisk(folder: string, megabytes: number): Promise<SmallDisk> {
  const mount = `mount -t tmpfs -o size=${megabytes}m none "$1" && echo mounted && exec cat`
  const holder = spawn('unshare', [...APART, 'sh', '-c', mount, 'sh', folder], {
    stdio: ['pipe', 'pipe', 'inherit'],
  })
  await once(holder.stdout, 'data')
  const through = ['nsenter', '--target', String(holder.pid), ...JOIN]
  const inside = async (...command: string[]) => {
    const [program = '', ...args] = [...through, ...command]
    await run(program, args)
  }
  const filler = join('/proc', String(holder.pid), 'root', folder, 'filler')
  return {
    through,
    async fill() {
      const all = writeFile(filler, Buffer.alloc(megabytes * 2 ** 20 + 1))
      await expect(all).rejects.toThrow('ENOSPC')
    },
    free: () => rm(filler),
    setWritable: (writable) =>
      inside('mount', '-o', `remount,bind,${writable ? 'rw' : 'ro'}`, folder),
    async remove() {
      const ended = once(holder, 'exit')
      holder.stdin.end()
      await ended
    },
  }
}
