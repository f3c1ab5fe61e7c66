import { spawn } from 'node:child_process'
import { once } from 'node:events'
import { mkdtemp, readFile, rm } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { z } from 'zod'
import type { Attack } from './attack.ts'
import type { Outcome } from './attempt.ts'

const outcomeSchema = z.object({ name: z.string(), reached: z.array(z.string()), ms: z.number() })
const MOST_MS = 60_000

/** Runs an attack in a process of its own whose surroundings are as the attack asks for. */
export async function attemptWithin(
  attack: Attack,
  within: NonNullable<Attack['within']>,
): Promise<Outcome> {
  const folder = await mkdtemp(join(tmpdir(), 'astra-within-'))
  const file = join(folder, 'outcome.json')
  const command = [process.execPath, join(import.meta.dirname, 'attempt-one.ts'), attack.name, file]
  const [program, ...args] = prefixes[within](command)
  try {
    const child = spawn(program, args, { stdio: ['ignore', 'ignore', 'pipe'], timeout: MOST_MS })
    let said = ''
    child.stderr.on('data', (chunk: Buffer) => {
      said += chunk
    })
    const [code] = await once(child, 'close')
    if (code !== 0) throw new Error(`${program} ended with ${code}: ${said}`)
    return outcomeSchema.parse(JSON.parse(await readFile(file, 'utf8')))
  } finally {
    await rm(folder, { recursive: true, force: true })
  }
}

type Command = readonly [string, ...string[]]

const HIDE_CGROUPS = 'mount -t tmpfs none /sys/fs/cgroup && exec "$@"'

const WITH_A_KEY = join(import.meta.dirname, 'fixtures', 'with-a-key.py')

const prefixes = {
  /** A controlling terminal. */
  terminal: (command) => ['script', '-qefc', command.map(quoted).join(' '), '/dev/null'],
  'a session with a key': (command) => ['python3', WITH_A_KEY, ...command],
  /** An ordinary user makes none anyway. */
  'no control groups': (command) =>
    process.getuid?.() === 0
      ? [
          'unshare',
          '--mount',
          '--propagation',
          'private',
          'sh',
          '-c',
          HIDE_CGROUPS,
          'sh',
          ...command,
        ]
      : ['env', ...command],
} satisfies Record<NonNullable<Attack['within']>, (command: string[]) => Command>

const quoted = (word: string) => `'${word.replaceAll("'", "'\\''")}'`
