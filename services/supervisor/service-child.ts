import { type ReadyMessage, readyMessageSchema } from '../../shared/contracts/supervisor.ts'
import { programFile } from '../../shared/program-file.ts'
import { type ChildSpec, whenReady } from './child.ts'

/** Loading the model from a cold disk is the slowest start. */
const READY_MS = 60_000

type Options = { onReady?(message: ReadyMessage): void; args?: readonly string[]; nth?: number }

/**
 * A process of a service of this installation, the `nth` of its kind; it ends when its channel to the
 * supervisor closes.
 */
export function serviceChild(
  service: string,
  env: Record<string, string | undefined>,
  { onReady, args = [], nth = 1 }: Options = {},
): ChildSpec {
  const name = nth === 1 ? service : `${service}-${nth}`
  return {
    name,
    command: process.execPath,
    args: [programFile(`services/${service}/main`), ...args],
    env,
    channel: true,
    ready: (child) =>
      whenReady(name, child, READY_MS, (done) =>
        child.on('message', (value) => {
          const message = readyMessageSchema.safeParse(value)
          if (!message.success) return
          onReady?.(message.data)
          done()
        }),
      ),
  }
}
