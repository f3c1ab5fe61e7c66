export type CommandOptions = {
  /** Options whose value is the next word, unless they have it behind a "=". */
  takesValue: RegExp
  /** Options of that kind that say which files to run, by the part before a "=". */
  selects?: RegExp
}

/**
 * The arguments of a command with `files` in place of the tests that it names. All other options
 * stay, with their values.
 */
export function narrowed(
  args: readonly string[],
  files: readonly string[],
  options: CommandOptions,
): string[] {
  return [...optionsOf(args, options), ...files.map(asPath)]
}

function optionsOf(args: readonly string[], { takesValue, selects }: CommandOptions): string[] {
  const kept: string[] = []
  for (let index = 0; index < args.length; index += 1) {
    const arg = args[index] ?? ''
    // What follows are positions, whatever it looks like.
    if (arg === '--') break
    if (!arg.startsWith('-')) continue
    const isSelection = selects?.test(arg.split('=')[0] ?? '') ?? false
    const hasValueBehind = isSelection ? !arg.includes('=') : takesValue.test(arg)
    const words = args.slice(index, index + (hasValueBehind ? 2 : 1))
    if (!isSelection) kept.push(...words)
    index += words.length - 1
  }
  return kept
}

/** A name that looks like an option is none. */
function asPath(file: string): string {
  return file.startsWith('-') ? `./${file}` : file
}
