import type { CliContext } from '../context.ts'

/** How to look at the demo's runs in the dashboard: `kept` is their ASTRA_HOME, null when it is gone. */
export function whereToSee({ env, config }: CliContext, kept: string | null): string {
  const viaNpm = ['demo', 'astra'].includes(env.npm_lifecycle_event ?? '')
  const astra = viaNpm ? 'npm run astra --' : 'astra'
  if (kept === null) return `To see the runs in a browser, keep them: ${astra} demo --keep`
  // The demo had a Redis of its own, whatever is configured.
  const redis = config().REDIS_URL === undefined ? '' : 'REDIS_URL= '
  return `See them: ${redis}ASTRA_HOME=${shellWord(kept)} ${astra} dashboard`
}

/** TMPDIR may hold what a shell would take apart. */
function shellWord(text: string): string {
  return /^[\w./:-]+$/.test(text) ? text : `'${text.replaceAll("'", "'\\''")}'`
}
