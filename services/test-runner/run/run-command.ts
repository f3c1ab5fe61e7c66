import { type ChildProcess, spawn } from 'node:child_process'
import { once } from 'node:events'
import { setTimeout as sleep } from 'node:timers/promises'

export type CommandRequest = {
  /** An absolute program and its arguments; no shell reads them. */
  argv: readonly [string, ...string[]]
  cwd: string
  env: Record<string, string>
  timeoutMs: number
  /** Of stdout and stderr together. */
  maxOutputBytes: number
  signal: AbortSignal
  /** Ends all that the command has started, by the pid of its first process. */
  stop(pid: number): Promise<void>
  /** Resolves when the command has to be stopped for the memory that it holds. */
  overMemory?(pid: number, signal: AbortSignal): Promise<'memory_limit'>
}

export type CommandResult = {
  end: 'exited' | 'timed_out' | 'output_limit' | 'memory_limit'
  /** Null when a signal ended the command. */
  exitCode: number | null
  stdout: string
  stderr: string
  /** Both, in the order in which they came. */
  output: string
}

/** How long output that is still in the pipes is waited for once all processes are gone. */
const DRAIN_MS = 2_000

/**
 * Runs a command to its end, its time limit or its output limit, and leaves no process of it
 * behind. Throws when the program cannot be started, and the signal's reason when that aborts.
 */
export async function runCommand(request: CommandRequest): Promise<CommandResult> {
  request.signal.throwIfAborted()
  const child = start(request)
  const output = collect(child, request.maxOutputBytes)
  const stopped = new AbortController()
  const timeout = sleep(request.timeoutMs, 'timed_out' as const, { signal: stopped.signal })
  const aborted = once(request.signal, 'abort', { signal: stopped.signal })
  timeout.catch(() => undefined)
  const memory =
    child.pid === undefined ? undefined : request.overMemory?.(child.pid, stopped.signal)
  aborted.catch(() => undefined)
  memory?.catch(() => undefined)
  try {
    const end = await Promise.race([
      exitOf(child),
      output.exceeded,
      timeout,
      ...(memory ? [memory] : []),
      aborted.then(() => 'aborted' as const),
    ])
    if (child.pid !== undefined) await request.stop(child.pid)
    // Even a process that escaped and holds the pipe cannot hold this up for ever.
    await Promise.race([output.closed, sleep(DRAIN_MS, undefined, { signal: stopped.signal })])
    if (end === 'aborted') throw request.signal.reason
    return { end, exitCode: end === 'exited' ? child.exitCode : null, ...output.texts() }
  } finally {
    stopped.abort()
    child.stdout?.destroy()
    child.stderr?.destroy()
  }
}

function start({ argv, cwd, env }: CommandRequest): ChildProcess {
  return spawn(argv[0], argv.slice(1), {
    cwd,
    env,
    // A process group of its own, so that all of it can be ended at once.
    detached: true,
    stdio: ['ignore', 'pipe', 'pipe'],
  })
}

function exitOf(child: ChildProcess): Promise<'exited'> {
  return new Promise((resolve, reject) => {
    child.once('exit', () => resolve('exited'))
    child.once('error', reject)
  })
}

function collect(child: ChildProcess, maxBytes: number) {
  const chunks: { stream: 'stdout' | 'stderr'; data: Buffer }[] = []
  let size = 0
  const exceeded = new Promise<'output_limit'>((resolve) => {
    for (const stream of ['stdout', 'stderr'] as const) {
      child[stream]?.on('data', (data: Buffer) => {
        const room = maxBytes - size
        size += data.length
        if (room > 0) chunks.push({ stream, data: data.subarray(0, room) })
        if (size > maxBytes) resolve('output_limit')
      })
    }
  })
  const closed = new Promise<void>((resolve) => child.once('close', () => resolve()))
  const text = (stream?: 'stdout' | 'stderr') =>
    Buffer.concat(
      chunks.filter((chunk) => !stream || chunk.stream === stream).map((chunk) => chunk.data),
    ).toString('utf8')
  return {
    exceeded,
    closed,
    texts: () => ({ stdout: text('stdout'), stderr: text('stderr'), output: text() }),
  }
}
