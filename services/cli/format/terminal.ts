import { stripVTControlCharacters } from 'node:util'
import pc from 'picocolors'

type Colours = ReturnType<typeof pc.createColors>

/** Where a command writes: results to stdout, all else to stderr. */
export type Terminal = {
  json: boolean
  /** Colours of stdout, or none where nothing would show them. */
  style: Colours
  /** A line of the result, for people. Nothing with `--json`. */
  print(line: string): void
  /** The whole result, for programs. Nothing without `--json`. */
  printJson(value: unknown): void
  /** What happens meanwhile, or what to know beside the result. */
  note(line: string): void
}

export function createTerminal(options: { json?: boolean }): Terminal {
  const json = options.json ?? false
  const dim = coloursOf(process.stderr).dim
  return {
    json,
    style: coloursOf(process.stdout),
    print: (line) => {
      if (!json) process.stdout.write(`${line}\n`)
    },
    printJson: (value) => {
      if (json) process.stdout.write(`${JSON.stringify(value, null, 2)}\n`)
    },
    note: (line) => void process.stderr.write(`${dim(line)}\n`),
  }
}

/** Each stream by itself: one may be a terminal while the other is a file. */
export function hasColours(
  stream: Pick<NodeJS.WriteStream, 'isTTY'>,
  env: Record<string, string | undefined>,
): boolean {
  if (env.NO_COLOR) return false
  if (env.FORCE_COLOR !== undefined) return !['0', 'false'].includes(env.FORCE_COLOR)
  return stream.isTTY === true && env.TERM !== 'dumb'
}

function coloursOf(stream: NodeJS.WriteStream): Colours {
  return pc.createColors(hasColours(stream, process.env))
}

/** Rows as aligned columns under a header. */
export function table(header: string[], rows: string[][]): string {
  const widths = header.map((title, column) =>
    Math.max(title.length, ...rows.map((row) => row[column]?.length ?? 0)),
  )
  return [header, ...rows]
    .map((row) =>
      row
        .map((cell, column) => cell.padEnd(widths[column] ?? 0))
        .join('  ')
        .trimEnd(),
    )
    .join('\n')
}

/** Foreign text without what would steer a terminal: a test's output or a model may hold anything. */
export function plain(text: string): string {
  // biome-ignore lint/suspicious/noControlCharactersInRegex: they are what is removed
  return stripVTControlCharacters(text).replace(/[\u0000-\u0008\u000b-\u001f\u007f-\u009f]/g, '')
}

/** Foreign text on one line, cut to `max` characters. */
export function oneLine(text: string, max: number): string {
  const line = plain(text).replace(/\s+/g, ' ').trim()
  return line.length <= max ? line : `${line.slice(0, max - 1)}…`
}
