/** A fix of the past that the memory search gave. It is a hint: it reorders tries, nothing more. */
export type RetrievedFix = { score: number; fix: string; errorType: string; files: string[] }

/** The matches in a search output; an output without matches gives none. */
export function readMatches(text: string): RetrievedFix[] {
  const blocks = text.split(/^Match \d+ /m).slice(1)
  return blocks.map((block) => ({
    score: Number(/^\(score=(-?[\d.]+)\)/.exec(block)?.[1] ?? '0'),
    fix: field(block, 'Fix'),
    errorType: field(block, 'Error type'),
    files: field(block, 'Files')
      .split(',')
      .map((file) => file.trim())
      .filter((file) => file !== ''),
  }))
}

function field(block: string, name: string): string {
  return new RegExp(`^${name}: (.*)$`, 'm').exec(block)?.[1]?.trim() ?? ''
}
