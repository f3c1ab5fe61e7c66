/** What the manual says of a command beside what its options and arguments say. */
export type Page = {
  /** Paragraphs, with lines broken as they are to be read. */
  details?: string
  /** A command line, and what it does. */
  examples: readonly (readonly [line: string, does: string])[]
  /** What `--json` prints. */
  json?: string
  /** Exit codes that are this command's own; those of all commands are added. */
  exit?: readonly (readonly [code: string, means: string])[]
  environment?: readonly (readonly [name: string, means: string])[]
  files?: readonly (readonly [path: string, holds: string])[]
}

/** By the words of the command. */
export type Pages = Readonly<Record<string, Page>>
