export type DemoRepair = { file: string; old: string; new: string }

/** By project below demo_projects/templates: the one edit after which all of its tests pass. */
export const DEMO_REPAIRS: Record<string, DemoRepair> = {
  'typescript/scenario_alpha': {
    file: 'src/settings.ts',
    old: 'raw.split(",")',
    new: 'raw.split(",").map((value) => value.trim())',
  },
  'typescript/scenario_beta': {
    file: 'src/names.ts',
    old: '.toLowerCase()',
    new: '.toLowerCase().replaceAll("-", "_")',
  },
  'typescript/scenario_gamma': {
    file: 'src/regions.ts',
    old: 'configured.split(",")',
    new: 'configured.split(",").map((region) => region.trim())',
  },
  'python/scenario_alpha': {
    file: 'feed/config.py',
    old: '[value for value in',
    new: '[value.strip() for value in',
  },
  'python/scenario_beta': {
    file: 'switches/names.py',
    old: '.lower()',
    new: '.lower().replace("-", "_")',
  },
  'python/scenario_gamma': {
    file: 'backups/regions.py',
    old: 'set(configured.split(","))',
    new: '{region.strip() for region in configured.split(",")}',
  },
  'more/booking_calendar': {
    file: 'src/dates.js',
    old: 'Date.UTC(year, month, day)',
    new: 'Date.UTC(year, month - 1, day)',
  },
  'more/build_planner': {
    file: 'planner/order.py',
    old: '    return sorted(steps, key=lambda name: (len(steps[name]), name))\n',
    new: `    order = []
    waiting = dict(steps)
    while waiting:
        ready = [name for name in waiting if not waiting.keys() & steps[name]]
        if not ready:
            raise CircularSteps(", ".join(sorted(waiting)))
        order.append(min(ready))
        del waiting[order[-1]]
    return order
`,
  },
  'more/csv_import': {
    file: 'src/csv.ts',
    old: `  return text
    .split("\\n")
    .filter((line) => line !== "")
    .map((line) => line.split(","));
`,
    new: `  const field = /(?:"((?:[^"]|"")*)"|([^",\\r\\n]*))(,|\\r?\\n|$)/y;
  const records: string[][] = [];
  let record: string[] = [];
  while (field.lastIndex < text.length) {
    const match = field.exec(text);
    if (match === null) throw new SyntaxError("not CSV");
    record.push(match[1]?.replaceAll('""', '"') ?? match[2] ?? "");
    if (match[3] === ",") continue;
    records.push(record);
    record = [];
  }
  return records;
`,
  },
  'more/invoice_totals': {
    file: 'src/discount.ts',
    old: 'subtotalCents > step.fromCents',
    new: 'subtotalCents >= step.fromCents',
  },
  'more/latency_report': {
    file: 'src/percentile.js',
    old: '.sort()',
    new: '.sort((left, right) => left - right)',
  },
  'more/member_cards': { file: 'src/card.js', old: 'team.name', new: 'team?.name' },
  'more/notes_archive': { file: 'archive/store.py', old: 'latin-1', new: 'utf-8' },
  'more/order_mailer': { file: 'src/confirm.ts', old: '= outbox.send', new: '= await outbox.send' },
  'more/page_reader': { file: 'src/read-all.js', old: 'page < pages', new: 'page <= pages' },
  'more/retry_policy': {
    file: 'src/policy.ts',
    old: 'retries || DEFAULT_RETRIES',
    new: 'retries ?? DEFAULT_RETRIES',
  },
  'more/shopping_basket': {
    file: 'basket/till.py',
    old: 'basket: list = []) -> list:\n',
    new: 'basket: list = None) -> list:\n    basket = [] if basket is None else basket\n',
  },
  'more/unit_converter': {
    file: 'converter/units.py',
    old: '        round((value - 32)',
    new: '        return round((value - 32)',
  },
  'more/webhook_inbox': {
    file: 'inbox/delivery.py',
    old: 'delivery["topic"]',
    new: 'delivery.get("topic")',
  },
}
