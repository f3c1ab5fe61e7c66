/** By metric, its labels with the values that each may have; null: any. */
export type KnownMetrics = ReadonlyMap<string, KnownLabels>
type KnownLabels = ReadonlyMap<string, ReadonlySet<string> | null>

/** A query, and the labels that the text beside it puts in. */
export type Query = { expr: string; shown: string[] }

const SELECTOR = /\b(astra_[a-z_]+|up)\b(?:\{([^}]*)\})?/g
const MATCHER = /(\w+)\s*(=~|!~|!=|=)\s*"([^"]*)"/g
const GROUPING = /\b(?:by|without|on|ignoring)\s*\(([^)]*)\)/g

/** What a query names that is not there: metrics, labels, and values of labels. */
export function unknownIn({ expr, shown }: Query, known: KnownMetrics): string[] {
  const selectors = [...expr.matchAll(SELECTOR)].map(([, name = '', list = '']) => ({ name, list }))
  const labels = new Set(selectors.flatMap(({ name }) => [...(known.get(name)?.keys() ?? [])]))
  const groups = [...expr.matchAll(GROUPING)].flatMap(([, list = '']) => list.split(/\s*,\s*/))
  // What was aggregated away is not there to be shown.
  const left = groups.length > 0 ? new Set(groups) : labels
  return [
    ...selectors.flatMap(({ name, list }) => unknownInSelector(name, list, known.get(name))),
    ...groups.filter((label) => !labels.has(label)).map((label) => `by (${label})`),
    ...shown.filter((label) => !left.has(label)).map((label) => `{{${label}}}`),
  ]
}

function unknownInSelector(name: string, list: string, known: KnownLabels | undefined): string[] {
  if (!known) return [name]
  return [...list.matchAll(MATCHER)].flatMap(([, label = '', operator = '', text = '']) => {
    const values = known.get(label)
    if (values === undefined) return [`${name}{${label}}`]
    // A variable of the board has its values elsewhere.
    if (values === null || text.startsWith('$')) return []
    const named = operator.includes('~') ? text.split('|') : [text]
    return named
      .filter((value) => !values.has(value))
      .map((value) => `${name}{${label}="${value}"}`)
  })
}

/** The queries of a file of alerts, with what their annotations show. */
export function queriesOfRules(yaml: string): Map<string, Query> {
  const alerts = yaml.split('- alert:').slice(1)
  return new Map(
    alerts.map((alert) => {
      const [name = ''] = alert.trim().split('\n')
      const expr = /expr:\s*(?:>-)?([\s\S]*?)\n\s+(?:for|labels):/.exec(alert)?.[1]?.trim()
      if (!expr) throw new Error(`no query in ${name}`)
      const shown = [...alert.matchAll(/\{\{ *\$labels\.(\w+)/g)].map(([, label = '']) => label)
      return [name, { expr, shown }]
    }),
  )
}

type Board = { panels: { targets?: { expr: string; legendFormat: string }[] }[] }

/** The queries of a Grafana board, with what their legends show. */
export function queriesOfBoard(json: string): Query[] {
  const { panels }: Board = JSON.parse(json)
  return panels.flatMap(({ targets = [] }) =>
    targets.map(({ expr, legendFormat }) => ({
      expr,
      shown: [...legendFormat.matchAll(/\{\{ *(\w+)/g)].map(([, label = '']) => label),
    })),
  )
}

/** All metrics of a scrape, with the labels and values that they have in it. */
export function metricsIn(text: string): Map<string, Map<string, Set<string> | null>> {
  const known = new Map<string, Map<string, Set<string> | null>>()
  for (const [, name = '', type] of text.matchAll(/^# TYPE (\S+) (\S+)$/gm)) {
    const parts = type === 'histogram' ? ['_bucket', '_sum', '_count'] : ['']
    for (const part of parts) known.set(name + part, new Map())
  }
  for (const [, name = '', list = ''] of text.matchAll(/^(\w+)\{(.*)\} \S+$/gm)) {
    const labels = known.get(name)
    for (const [, label = '', , value = ''] of list.matchAll(MATCHER)) {
      labels?.set(label, (labels.get(label) ?? new Set()).add(value))
    }
  }
  return known
}
