import { join } from 'node:path'
import { productRoot } from '../../shared/config.ts'
import { type ReadyMessage, readyMessageSchema } from '../../shared/contracts/supervisor.ts'
import { type ChildSpec, whenReady } from './child.ts'

/** Loading the model from a cold disk is the slowest start. */
const READY_MS = 60_000

/** A service of this installation; it ends when its channel to the supervisor closes. */
export function serviceChild(
  name: string,
  env: Record<string, string | undefined>,
  onReady: (message: ReadyMessage) => void = () => {},
  args: readonly string[] = [],
): ChildSpec {
  return {
    name,
    command: process.execPath,
    args: [join(productRoot, 'services', name, 'main.ts'), ...args],
    env,
    channel: true,
    ready: (child) =>
      whenReady(name, child, READY_MS, (done) =>
        child.on('message', (value) => {
          const message = readyMessageSchema.safeParse(value)
          if (!message.success) return
          onReady(message.data)
          done()
        }),
      ),
  }
}
