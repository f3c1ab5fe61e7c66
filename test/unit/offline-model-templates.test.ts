import { describe, expect, it } from 'vitest'
import { candidatesFor, projectOf } from '../../services/offline-model/repair/candidates.ts'
import { type Language, sourceOf } from '../../services/offline-model/repair/source.ts'
import { canParse } from '../../services/offline-model/repair/syntax.ts'

const endings: Record<Language, string> = { python: 'py', javascript: 'js', typescript: 'ts' }

function edits(language: Language, text: string) {
  const source = sourceOf(`file.${endings[language]}`, text, language)
  return candidatesFor(source, projectOf([source]))
}

const repaired = (language: Language, text: string) =>
  edits(language, text).map((edit) => text.replace(edit.old_text, () => edit.new_text))

/** family, language, broken text, mended text */
const cases: [string, Language, string, string][] = [
  [
    'string-normalisation',
    'typescript',
    "const parts = text.split(',')\n",
    "const parts = text.split(',').map((part) => part.trim())\n",
  ],
  [
    'string-normalisation',
    'python',
    'parts = os.environ.get("A", "").split(",")\n',
    'parts = [part.strip() for part in os.environ.get("A", "").split(",")]\n',
  ],
  [
    'string-normalisation',
    'javascript',
    "return name.toLowerCase().replace(' ', '-')\n",
    "return name.toLowerCase().replaceAll(' ', '-')\n",
  ],
  [
    'string-normalisation',
    'python',
    'def key(name):\n    return name.lower()\n',
    'def key(name):\n    return name.lower().replace("-", "_")\n',
  ],
  [
    'string-normalisation',
    'typescript',
    'function key(name: string) {\n  return name\n}\n',
    "function key(name: string) {\n  return name.toLowerCase().replaceAll('-', '_')\n}\n",
  ],
  ['bounds', 'python', 'if age > 18:\n    pass\n', 'if age >= 18:\n    pass\n'],
  [
    'bounds',
    'javascript',
    'const last = list[list.length]\n',
    'const last = list[list.length - 1]\n',
  ],
  [
    'bounds',
    'python',
    'for day in range(1, days):\n    pass\n',
    'for day in range(1, days + 1):\n    pass\n',
  ],
  ['bounds', 'typescript', 'const start = page * size\n', 'const start = (page - 1) * size\n'],
  [
    'null-guards',
    'typescript',
    'const city = user.address.city\n',
    'const city = user.address?.city\n',
  ],
  ['null-guards', 'python', 'return prices[name]\n', 'return prices.get(name)\n'],
  [
    'null-guards',
    'python',
    'counts[row["kind"]] += 1\n',
    'counts[row["kind"]] = counts.get(row["kind"], 0) + 1\n',
  ],
  [
    'null-guards',
    'javascript',
    'return total / count\n',
    'return count === 0 ? 0 : total / count\n',
  ],
  ['operators', 'python', 'return price - tax\n', 'return price + tax\n'],
  ['operators', 'typescript', 'return isAdmin || isOwner\n', 'return isAdmin && isOwner\n'],
  ['operators', 'python', 'half = total // 2\n', 'half = total / 2\n'],
  [
    'await-and-return',
    'javascript',
    'async function load() {}\nasync function run() {\n  const data = load()\n  return data\n}\n',
    'async function load() {}\nasync function run() {\n  const data = await load()\n  return data\n}\n',
  ],
  [
    'await-and-return',
    'python',
    'def double(x):\n    x * 2\n',
    'def double(x):\n    return x * 2\n',
  ],
  [
    'await-and-return',
    'typescript',
    'const doubled = list.map((x) => { x * 2 })\n',
    'const doubled = list.map((x) => { return x * 2 })\n',
  ],
  ['defaults', 'typescript', 'function wait(seconds = 0) {}\n', 'function wait(seconds = 1) {}\n'],
  [
    'defaults',
    'javascript',
    'const all = { ...given, ...defaults }\n',
    'const all = { ...defaults, ...given }\n',
  ],
  [
    'mutable-default',
    'python',
    'def add(item, items=[]):\n    items.append(item)\n    return items\n',
    'def add(item, items=None):\n    if items is None:\n        items = []\n    items.append(item)\n    return items\n',
  ],
  [
    'mutable-default',
    'python',
    'class Cart:\n    items = []\n\n    def __init__(self, name):\n        self.name = name\n',
    'class Cart:\n\n    def __init__(self, name):\n        self.items = []\n        self.name = name\n',
  ],
  [
    'shared-state',
    'typescript',
    'class A {\n  all() {\n    return this.items\n  }\n}\n',
    'class A {\n  all() {\n    return [...this.items]\n  }\n}\n',
  ],
  [
    'shared-state',
    'python',
    'rows = [[0] * width] * height\n',
    'rows = [[0] * width for _ in range(height)]\n',
  ],
  [
    'sorting',
    'javascript',
    'const ranked = [...values].sort()\n',
    'const ranked = [...values].sort((a, b) => a - b)\n',
  ],
  ['sorting', 'python', 'return sorted(scores)\n', 'return sorted(scores, reverse=True)\n'],
  [
    'dates-and-encoding',
    'javascript',
    'const month = date.getMonth()\n',
    'const month = (date.getMonth() + 1)\n',
  ],
  [
    'dates-and-encoding',
    'python',
    'text = data.decode("ascii")\n',
    'text = data.decode("utf-8")\n',
  ],
  [
    'dates-and-encoding',
    'python',
    'hours = span.seconds / 3600\n',
    'hours = span.total_seconds() / 3600\n',
  ],
  ['conversion', 'python', 'total = total + row["size"]\n', 'total = total + int(row["size"])\n'],
  [
    'conversion',
    'javascript',
    "const codes = text.split(' ').map(parseInt)\n",
    "const codes = text.split(' ').map(Number)\n",
  ],
  [
    'rounding',
    'typescript',
    'const pages = Math.floor(total / size)\n',
    'const pages = Math.ceil(total / size)\n',
  ],
  ['rounding', 'python', 'cents = int(price * 100)\n', 'cents = round(price * 100)\n'],
  [
    'regular-expressions',
    'javascript',
    "const slug = title.replace(/ /, '-')\n",
    "const slug = title.replace(/ /g, '-')\n",
  ],
  [
    'regular-expressions',
    'python',
    'ok = re.match(pattern, code)\n',
    'ok = re.fullmatch(pattern, code)\n',
  ],
  ['truthiness', 'typescript', 'const port = given || 80\n', 'const port = given ?? 80\n'],
  ['truthiness', 'python', 'if limit:\n    pass\n', 'if limit is not None:\n    pass\n'],
  ['arguments', 'python', 'area = scale(width, factor)\n', 'area = scale(factor, width)\n'],
  [
    'comparison',
    'javascript',
    'const same = left === right\n',
    'const same = left.toLowerCase() === right.toLowerCase()\n',
  ],
  [
    'comparison',
    'typescript',
    'if (names.indexOf(name) > 0) {\n}\n',
    'if (names.indexOf(name) >= 0) {\n}\n',
  ],
]

describe('repair templates', () => {
  it.each(cases)('%s mends %s: %j', (family, language, broken, mended) => {
    expect(repaired(language, broken)).toContain(mended)
    const families = edits(language, broken).filter(
      (each) => broken.replace(each.old_text, () => each.new_text) === mended,
    )
    expect(families.map((edit) => edit.family)).toContain(family)
  })

  it('gives edits whose old and new text each stand once in the file, so that they can be undone', () => {
    const text = 'a = rows[0]\nb = 1\nif x > 1:\n    a = rows[0]\nelse:\n    a = rows[0]\n'
    const found = edits('python', text)
    expect(found.length).toBeGreaterThan(3)
    for (const edit of found) {
      expect(text.split(edit.old_text)).toHaveLength(2)
      expect(text.replace(edit.old_text, () => edit.new_text).split(edit.new_text)).toHaveLength(2)
    }
  })

  it('leaves strings, comments and regular expressions alone', () => {
    expect(edits('javascript', "// a < b\nconst text = 'x || y.split(1) < z'\n")).toEqual([])
    expect(edits('python', '"""a < b and c"""\n# x == y\n')).toEqual([])
  })

  // biome-ignore-start lint/suspicious/noTemplateCurlyInString: it is the source text under test
  it('finds code inside a template literal', () => {
    const text = 'const line = `${values.sort()} sorted < all`\n'
    expect(repaired('typescript', text)).toContain(
      'const line = `${values.sort((a, b) => a - b)} sorted < all`\n',
    )
  })
  // biome-ignore-end lint/suspicious/noTemplateCurlyInString: it is the source text under test

  it('knows when an edit would not parse', () => {
    expect(canParse('const a: number = (1', 'typescript')).toBe(false)
    expect(canParse('def f(:\n  return [1\n', 'python')).toBe(false)
    expect(canParse('const a: number = 1', 'typescript')).toBe(true)
  })
})
