import { familyOf, type Rule } from '../rule.ts'

const date = ['date', 'boundary'] as const
const encoding = ['encoding'] as const

const dateRules: Rule[] = [
  {
    kind: 'month-from-zero',
    language: 'script',
    find: /\.get(?<utc>UTC)?Month\(\)(?! *[-+] *1)/dg,
    receiver: true,
    prior: 0.6,
    clues: [...date, 'number'],
    why: 'months are counted from zero: add one',
    to: ({ whole }) => [`(${whole} + 1)`, `${whole} + 1`],
  },
  {
    kind: 'month-from-zero',
    language: 'script',
    find: /\b(?:new Date|Date\.UTC)\(/dg,
    call: true,
    prior: 0.5,
    clues: [...date, 'number'],
    why: 'months are counted from zero: subtract one',
    to: ({ whole, args }) => {
      const [year = '', month = '', ...rest] = args
      if (args.length < 2) return null
      const head = whole.slice(0, whole.indexOf('('))
      const moved = /^(.*\S) ?- ?1$/.exec(month)?.[1] ?? `${month} - 1`
      return `${head}(${[year, moved, ...rest].join(', ')})`
    },
  },
  {
    kind: 'universal-time',
    language: 'script',
    find: /\.(?<verb>get|set)(?<utc>UTC)?(?<part>FullYear|Month|Date|Day|Hours|Minutes|Seconds)\(/dg,
    prior: 0.3,
    clues: date,
    why: 'read the time in UTC, not in the local zone',
    to: (site) =>
      `.${site.group('verb')}${site.group('utc') === 'UTC' ? '' : 'UTC'}${site.group('part')}(`,
  },
  {
    kind: 'day-of-month',
    language: 'script',
    find: /\.get(?<utc>UTC)?(?<part>Day|Date|Year)\(\)/dg,
    prior: 0.35,
    clues: date,
    why: 'use the day of the month instead of the day of the week, or the full year',
    to: (site) => {
      const other: Record<string, string> = { Day: 'Date', Date: 'Day', Year: 'FullYear' }
      return `.get${site.group('utc')}${other[site.group('part')] ?? 'Date'}()`
    },
  },
  {
    kind: 'milliseconds',
    language: 'script',
    find: /\bnew Date\((?<value>[a-zA-Z_][\w.]*)\)/dg,
    prior: 0.2,
    clues: [...date, 'number'],
    why: 'a Date counts milliseconds, not seconds',
    to: (site) => `new Date(${site.group('value')} * 1000)`,
  },
  {
    kind: 'time-unit',
    language: 'any',
    find: /(?<=[*/] )(?:1000|60_000|60000|3600|86400|86_400|24|60|100|7)\b|\b(?:60|24|1000)(?= \*)/dg,
    prior: 0.15,
    clues: [...date, 'number'],
    why: 'use the right factor between the units',
    to: ({ whole }) =>
      ['1000', '60', '3600', '86400', '24', '100'].filter((unit) => unit !== whole),
  },
  {
    kind: 'universal-time',
    language: 'python',
    find: /\b(?<call>now|fromtimestamp)\((?<args>[^()\n]*)\)/dg,
    prior: 0.3,
    clues: date,
    why: 'take the time in UTC, not in the local zone',
    to: (site) => {
      if (site.group('args').includes('tz')) return null
      const args = site.group('args') === '' ? [] : [site.group('args')]
      const zones = ['timezone.utc', 'datetime.timezone.utc', 'datetime.UTC']
      return zones.map((zone) => `${site.group('call')}(${[...args, `tz=${zone}`].join(', ')})`)
    },
  },
  {
    kind: 'whole-duration',
    language: 'python',
    find: /\.seconds\b(?!\()/dg,
    prior: 0.6,
    clues: [...date, 'number'],
    why: 'count the whole duration, days included',
    to: () => '.total_seconds()',
  },
  {
    kind: 'date-format',
    language: 'python',
    find: /(?<=\bstr[fp]time\((?:[^()\n]*, ?)?)(?<format>'[^'\n]*'|"[^"\n]*")/dg,
    prior: 0.35,
    clues: date,
    why: 'use the right letter in the date format',
    to: (site) => dateFormats(site.whole),
  },
]

function dateFormats(format: string): string[] {
  const pairs: [string, string][] = [
    ['%m', '%M'],
    ['%H', '%I'],
    ['%y', '%Y'],
    ['%D', '%d'],
    ['%b', '%B'],
    ['%a', '%A'],
  ]
  const swapped = pairs.flatMap(([a, b]) => [
    format.replace(a, b),
    format.replace(b, a),
    ...(format.includes(a) && format.includes(b)
      ? [format.replace(a, '\0').replace(b, a).replace('\0', b)]
      : []),
  ])
  const dayMonth = format.replace('%d', '\0').replace('%m', '%d').replace('\0', '%m')
  return [...new Set([...swapped, dayMonth])].filter((each) => each !== format)
}

const encodingRules: Rule[] = [
  {
    kind: 'utf-8',
    language: 'any',
    find: /(?<=\.(?:encode|decode|toString)\(|encoding=|, )(?<name>'[^'\n]*'|"[^"\n]*")(?=[,)])/dg,
    prior: 0.4,
    clues: encoding,
    why: 'read and write text as UTF-8',
    to: ({ whole }) =>
      /^.(?:ascii|latin-?1|iso-8859-1|cp1252|binary|utf-?16\w*|us-ascii)/i.test(whole)
        ? whole.replace(/[\w-]+/, 'utf-8')
        : null,
  },
  {
    kind: 'utf-8',
    language: 'python',
    find: /(?<![\w])(?:open|read_text|write_text)\(/dg,
    call: true,
    prior: 0.3,
    clues: encoding,
    why: 'open text as UTF-8 whatever the platform prefers',
    to: ({ whole, args }) =>
      args.some((arg) => arg.startsWith('encoding') || /^['"]\w*b\w*['"]$/.test(arg))
        ? null
        : `${whole.slice(0, -1)}${args.length > 0 ? ', ' : ''}encoding="utf-8")`,
  },
  {
    kind: 'encoding-errors',
    language: 'python',
    find: /, (?:errors=)?(?:'[^'\n]*'|"[^"\n]*")(?=\))/dg,
    prior: 0.3,
    clues: encoding,
    why: 'do not drop characters silently',
    to: ({ whole }) => (/['"](?:ignore|replace)['"]$/.test(whole) ? '' : null),
  },
  {
    kind: 'byte-length',
    language: 'script',
    find: /\.length\b/dg,
    receiver: true,
    prior: 0.12,
    clues: [...encoding, 'length'],
    why: 'count bytes or characters instead of UTF-16 units',
    to: ({ receiver }) => [`Buffer.byteLength(${receiver})`, `[...${receiver}].length`],
  },
  {
    kind: 'byte-length',
    language: 'python',
    find: /\blen\((?<value>[a-z_][\w.]*)\)/dg,
    prior: 0.1,
    clues: encoding,
    why: 'count bytes instead of characters',
    to: (site) => `len(${site.group('value')}.encode("utf-8"))`,
  },
  {
    kind: 'by-character',
    language: 'script',
    find: /\.split\(''\)/dg,
    receiver: true,
    prior: 0.4,
    clues: encoding,
    why: 'split by characters instead of UTF-16 units',
    to: ({ receiver }) => `[...${receiver}]`,
  },
  {
    kind: 'component-encoding',
    language: 'script',
    find: /\b(?:en|de)codeURI(?=\()/dg,
    prior: 0.6,
    clues: encoding,
    why: 'encode the reserved characters of a component as well',
    to: ({ whole }) => `${whole}Component`,
  },
]

export const datesAndEncoding = familyOf('dates-and-encoding', [...dateRules, ...encodingRules])
