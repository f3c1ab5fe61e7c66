import { type ChildProcess, spawn } from 'node:child_process'
import { once } from 'node:events'
import { closeSync, readFileSync } from 'node:fs'
import { join } from 'node:path'
import { type Config, compileCache } from '../../shared/config.ts'
import {
  type DashboardTicket,
  dashboardReadySchema,
  dashboardTicketSchema,
  NO_AUTH_FLAG,
  type TicketRequest,
} from '../../shared/contracts/dashboard.ts'
import { UnavailableError } from '../../shared/errors.ts'
import { openLogFile } from '../../shared/log-file.ts'
import { programFile } from '../../shared/program-file.ts'
import type { CliContext } from './context.ts'

const START_MS = 30_000
const TICKET_MS = 5_000
/** The dashboard ends its open pages within a second. */
const STOP_MS = 5_000

export type DashboardOptions = { port?: number; auth: boolean }

export type RunningDashboard = {
  url: string
  /** The file with the token; null: no login. */
  tokenFile: string | null
  /** A ticket for one login, for a link. */
  issueTicket(): Promise<DashboardTicket>
  /** Rejects when it ends by itself. */
  died: Promise<never>
  stop(): Promise<void>
}

/** Starts the dashboard and waits until it listens. Throws UnavailableError with what it said. */
export async function startDashboard(
  config: Config,
  { env }: Pick<CliContext, 'env'>,
  { port, auth }: DashboardOptions,
): Promise<RunningDashboard> {
  const logs = join(config.home, 'logs')
  const logFile = join(logs, 'dashboard.log')
  const log = openLogFile(logs, 'dashboard')
  const child = spawn(
    process.execPath,
    [programFile('services/dashboard/main'), ...(auth ? [] : [NO_AUTH_FLAG])],
    {
      env: {
        ...env,
        ASTRA_HOME: config.home,
        NODE_COMPILE_CACHE: compileCache(env),
        // The agent-runner alone is given the key.
        OPENAI_API_KEY: '',
        OPENAI_API_KEY_FILE: '',
        ...(port === undefined ? {} : { ASTRA_DASHBOARD_PORT: String(port) }),
      },
      stdio: ['ignore', 'ignore', log, 'ipc'],
    },
  )
  closeSync(log)
  let stopping = false
  const died = once(child, 'exit').then(([code, signal]): never => {
    if (stopping) throw new UnavailableError('the dashboard was stopped')
    throw new UnavailableError(`the dashboard ended (${code ?? signal}): ${lastWords(logFile)}`, {
      hint: `see ${logFile}`,
    })
  })
  died.catch(() => {})
  const stop = async () => {
    stopping = true
    await ended(child)
  }
  try {
    const url = await Promise.race([listening(child), died])
    const tokenFile = auth ? join(config.home, 'dashboard', 'token') : null
    const issueTicket = () => Promise.race([ticketOf(child), died])
    return { url, tokenFile, issueTicket, died, stop }
  } catch (error) {
    await stop()
    throw error
  }
}

async function listening(child: ChildProcess): Promise<string> {
  try {
    const [message] = await once(child, 'message', { signal: AbortSignal.timeout(START_MS) })
    return dashboardReadySchema.parse(message).dashboard_url
  } catch (cause) {
    throw new UnavailableError(`the dashboard did not start within ${START_MS / 1000} s`, { cause })
  }
}

async function ticketOf(child: ChildProcess): Promise<DashboardTicket> {
  const request: TicketRequest = { type: 'issue_ticket' }
  const answer = once(child, 'message', { signal: AbortSignal.timeout(TICKET_MS) })
  child.send(request)
  try {
    const [message] = await answer
    return dashboardTicketSchema.parse(message)
  } catch (cause) {
    throw new UnavailableError('the dashboard gave no login link', { cause })
  }
}

async function ended(child: ChildProcess): Promise<void> {
  if (child.exitCode !== null || child.signalCode !== null) return
  const exit = once(child, 'exit')
  child.kill('SIGTERM')
  const timer = setTimeout(() => child.kill('SIGKILL'), STOP_MS)
  await exit
  clearTimeout(timer)
}

/** What a service says when it does not start; the log's other lines are JSON. */
function lastWords(logFile: string): string {
  const lines = readFileSync(logFile, 'utf8').trimEnd().split('\n')
  const said = lines.findLast((line) => line.startsWith('dashboard: '))
  return said?.slice('dashboard: '.length) ?? 'it did not say why'
}
