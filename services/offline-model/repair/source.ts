import { blankPython, blankScript } from './blanking.ts'

export type Language = 'python' | 'javascript' | 'typescript'

/** A file that the program may mend. `code` is `text` with strings and comments blanked out. */
export type Source = { path: string; text: string; code: string; language: Language }

const languages: Record<string, Language> = {
  py: 'python',
  js: 'javascript',
  mjs: 'javascript',
  cjs: 'javascript',
  jsx: 'javascript',
  ts: 'typescript',
  mts: 'typescript',
  cts: 'typescript',
  tsx: 'typescript',
}

/** The language by the file's ending; null when the program knows no repairs for it. */
export function languageOf(path: string): Language | null {
  if (path.endsWith('.d.ts')) return null
  return languages[path.slice(path.lastIndexOf('.') + 1)] ?? null
}

export function sourceOf(path: string, text: string, language: Language): Source {
  const code = language === 'python' ? blankPython(text) : blankScript(text)
  return { path, text, code, language }
}
