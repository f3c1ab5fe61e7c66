import { once } from 'node:events'
import { type Command, InvalidArgumentError } from 'commander'
import { NO_AUTH_FLAG } from '../../../shared/contracts/dashboard.ts'
import type { CliContext } from '../context.ts'
import { type RunningDashboard, startDashboard } from '../dashboard-process.ts'
import { createTerminal } from '../format/terminal.ts'
import { withServices } from '../with-services.ts'

type Options = { json?: boolean; port?: number; auth: boolean }

export function addDashboardCommand(program: Command, context: CliContext): void {
  program
    .command('dashboard')
    .description('show runs, memories, costs and queues in a browser, until Ctrl-C')
    .option('--port <n>', 'where it listens; 0 is any free port', portNumber)
    .option(NO_AUTH_FLAG, 'ask for no login; on a loopback address only')
    .option('--json', 'print the address as JSON')
    .action((options: Options) => dashboard(context, options))
}

async function dashboard(context: CliContext, options: Options): Promise<void> {
  const terminal = createTerminal(options)
  const config = context.config()
  // Ctrl-C is the way to end this command, so it is waited for here and is no error.
  const patient = { env: context.env, interrupted: new AbortController().signal }
  await withServices(config, patient, terminal.note, async () => {
    if (context.interrupted.aborted) return
    const running = await startDashboard(config, context, options)
    try {
      const { url, tokenFile } = running
      const login = await loginLink(running)
      terminal.printJson({ url, login: login?.link ?? null, token_file: tokenFile })
      terminal.print(`dashboard  ${url}`)
      if (login) {
        terminal.print(`log in     ${login.link}`)
        terminal.print(
          `           this link works once, within ${login.minutes} minutes; after that`,
        )
        terminal.print(`           type the token in ${tokenFile}`)
      }
      terminal.print('Ctrl-C stops it.')
      if (!context.interrupted.aborted) {
        await Promise.race([once(context.interrupted, 'abort'), running.died])
      }
      terminal.note('stopping')
    } finally {
      await running.stop()
    }
  })
}

/** Null where nobody has to log in. The lasting token is in no link: those end up in histories. */
async function loginLink({ url, issueTicket }: RunningDashboard) {
  const { ticket, minutes } = await issueTicket()
  return ticket === null ? null : { link: `${url}/login?ticket=${ticket}`, minutes }
}

function portNumber(text: string): number {
  const port = Number(text)
  if (/^\d{1,5}$/.test(text) && port <= 65_535) return port
  throw new InvalidArgumentError('A port is a number from 0 to 65535.')
}
