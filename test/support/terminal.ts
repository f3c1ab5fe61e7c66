import { spawn, spawnSync } from 'node:child_process'

export const onPath = (program: string) => spawnSync('which', [program]).status === 0

export type TypedTerminal = {
  type(text: string): void
  /** Resolves with what `pattern` found on the screen after the last call; throws when it ends before. */
  shows(pattern: RegExp): Promise<string>
  end(): Promise<string>
}

/** A command at a pseudo-terminal of its own, made by `script` of util-linux. */
export function openTerminal(
  command: string,
  options: { cwd: string; env: Record<string, string | undefined> },
): TypedTerminal {
  const child = spawn('script', ['-qec', command, '/dev/null'], {
    ...options,
    stdio: ['pipe', 'pipe', 'inherit'],
  })
  let screen = ''
  child.stdout.setEncoding('utf8').on('data', (chunk: string) => {
    screen += chunk
  })
  const closed = new Promise<string>((done) => child.once('close', () => done(screen)))
  return {
    type: (text) => void child.stdin.write(text),
    shows: (pattern) =>
      new Promise((done, fail) => {
        const look = () => {
          const match = pattern.exec(screen)
          if (!match) return
          screen = screen.slice(match.index + match[0].length)
          child.stdout.off('data', look)
          done(match[1] ?? match[0])
        }
        child.stdout.on('data', look)
        void closed.then(() => fail(new Error(`never showed ${pattern}: ${screen}`)))
        look()
      }),
    end: () => {
      child.stdin.end()
      return closed
    },
  }
}
