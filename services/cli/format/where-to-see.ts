import { withDotEnv } from '../../../shared/config.ts'
import type { CliContext } from '../context.ts'
import { ownServers } from '../scratch-home.ts'

/** How to look at the demo's runs in the dashboard: `kept` is their ASTRA_HOME, null when it is gone. */
export function whereToSee({ env }: CliContext, kept: string | null): string {
  const viaNpm = ['demo', 'astra'].includes(env.npm_lifecycle_event ?? '')
  const astra = viaNpm ? 'npm run astra --' : 'astra'
  if (kept === null) return `To see the runs in a browser, keep them: ${astra} demo --keep`
  const configured = withDotEnv(env)
  const servers = Object.keys(ownServers).filter((name) => configured[name])
  const settings = [...servers.map((name) => `${name}=`), `ASTRA_HOME=${shellWord(kept)}`]
  return `See them: ${settings.join(' ')} ${astra} dashboard`
}

/** TMPDIR may hold what a shell would take apart. */
function shellWord(text: string): string {
  return /^[\w./:-]+$/.test(text) ? text : `'${text.replaceAll("'", "'\\''")}'`
}
