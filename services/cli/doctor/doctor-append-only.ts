import { execFile } from 'node:child_process'
import { cp, readdir } from 'node:fs/promises'
import { basename, join } from 'node:path'
import { promisify } from 'node:util'
import type { Config } from '../../../shared/config.ts'
import { UnavailableError } from '../../../shared/errors.ts'
import { takeLock } from '../../../shared/home-lock.ts'
import { findProgram } from '../../../shared/redis-server.ts'
import type { Finding } from './check.ts'

const run = promisify(execFile)
/** It reads all of the file. */
const CHECK_MS = 120_000
/** What a crash can cut off is a few writes. More is no damaged end, and not ours to give up. */
const MAX_CUT = 65_536

type Env = Record<string, string | undefined>
/** `cut`: the bytes at the end of what was written last that cannot be read; null: it is elsewhere. */
type Damage = { file: string; cut: number | null }

/** Whether the private Redis, which does not run, will read its data again; null: it will. */
export async function examineAppendOnly({ home }: Config, env: Env): Promise<Finding | null> {
  const folder = join(home, 'redis', 'appendonlydir')
  const names = await readdir(folder).catch(() => [])
  const manifest = names.find((name) => name.endsWith('.manifest'))
  const program = findProgram(['redis-check-aof', 'valkey-check-aof'], env)
  if (!manifest || !program) return null
  const file = join(folder, manifest)
  const damage = await damageOf(program, file)
  if (!damage) return null
  const { cut } = damage
  if (cut === null || cut > MAX_CUT) {
    const found = `${join(folder, damage.file)} is damaged, and not only at its end`
    const advice = `copy ${folder}, then ${program} --fix ${file}; or \`astra restore\` a backup`
    return { result: 'fail', found, advice }
  }
  const copy = `${folder}-${new Date().toISOString().replace(/[-:.]/g, '')}`
  return {
    result: 'fail',
    found: `the last ${cut} bytes of ${join(folder, damage.file)} are damaged`,
    advice: '`astra doctor --fix` cuts that off, and keeps a copy',
    repair: {
      does: `copy ${folder} to ${copy}, then cut the last ${cut} bytes off ${damage.file}`,
      needsConsent: false,
      run: () => cutOff(home, { program, file, folder, copy }),
    },
  }
}

async function damageOf(program: string, manifest: string): Promise<Damage | null> {
  const said = await run(program, [manifest], { timeout: CHECK_MS }).then(
    () => null,
    // One that took too long has found nothing yet.
    (error: { stdout?: string; killed?: boolean }) => (error.killed ? null : (error.stdout ?? '')),
  )
  if (said === null) return null
  const [, file, cut] =
    /filename=(\S+), size=\d+, ok_up_to=\d+, ok_up_to_line=\d+, diff=(\d+)\n.*not valid/.exec(
      said,
    ) ?? []
  return { file: file ?? basename(manifest), cut: file?.endsWith('.incr.aof') ? Number(cut) : null }
}

async function cutOff(
  home: string,
  { program, file, folder, copy }: { program: string; file: string; folder: string; copy: string },
): Promise<void> {
  // No services may start meanwhile.
  const lock = takeLock(join(home, 'run', 'supervisor.lock'))
  if (!lock) throw new UnavailableError('services run by now')
  try {
    await cp(folder, copy, { recursive: true, errorOnExist: true, force: false })
    const cutting = run(program, ['--fix', file], { timeout: CHECK_MS })
    cutting.child.stdin?.end('y\n')
    await cutting
  } finally {
    lock.release()
  }
}
