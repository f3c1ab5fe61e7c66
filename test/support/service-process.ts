import { type ChildProcess, spawn } from 'node:child_process'
import { once } from 'node:events'
import { join } from 'node:path'
import { productRoot } from '../../shared/config.ts'

export type ServiceProcess = {
  child: ChildProcess
  /** What it announced when it was ready, such as an address. */
  announced: Record<string, unknown>
  /** Sends the signal and waits for the end: the exit code, or the signal that ended it. */
  end(signal: NodeJS.Signals): Promise<number | string>
  /** Its end, whoever brings it about. */
  ended: Promise<number | string>
}

/**
 * Starts `services/NAME/main.ts` on `home` and waits until it takes jobs. `through`: a program with
 * its arguments that becomes the service's.
 */
export async function startService(
  name: string,
  home: string,
  env: Record<string, string> = {},
  through: readonly string[] = [],
): Promise<ServiceProcess> {
  const child = spawnService(name, home, { stderr: 'inherit', env, through })
  const ended = once(child, 'exit').then(([code, killedBy]) => code ?? killedBy)
  const ready = once(child, 'message')
  const [announced] = await Promise.race([
    ready,
    ended.then((code) => Promise.reject(new Error(`${name} ended with ${code}`))),
  ])
  return {
    child,
    announced,
    ended,
    end(signal) {
      child.kill(signal)
      return ended
    },
  }
}

/** Runs a service that must not start: its exit code and what it said. */
export async function failToStart(
  name: string,
  home: string,
  env: Record<string, string> = {},
  flags: readonly string[] = [],
) {
  const child = spawnService(name, home, { stderr: 'pipe', env, through: [], flags })
  let output = ''
  child.stderr?.on('data', (chunk: Buffer) => {
    output += chunk.toString()
  })
  const [code] = await once(child, 'close')
  return { code, output }
}

function spawnService(
  name: string,
  home: string,
  how: {
    stderr: 'inherit' | 'pipe'
    env: Record<string, string>
    through: readonly string[]
    flags?: readonly string[]
  },
): ChildProcess {
  const main = join(productRoot, 'services', name, 'main.ts')
  const [command = process.execPath, ...args] = [
    ...how.through,
    process.execPath,
    main,
    ...(how.flags ?? []),
  ]
  return spawn(command, args, {
    env: {
      PATH: process.env.PATH,
      HOME: home,
      ASTRA_HOME: home,
      ASTRA_LOG_LEVEL: 'fatal',
      ...how.env,
    },
    stdio: ['ignore', 'inherit', how.stderr, 'ipc'],
  })
}
