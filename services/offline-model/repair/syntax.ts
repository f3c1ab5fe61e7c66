import { stripTypeScriptTypes } from 'node:module'
import { blankPython } from './blanking.ts'
import type { Language } from './source.ts'

/** False for text that the language surely refuses. For Python only the brackets are looked at. */
export function canParse(text: string, language: Language): boolean {
  if (language === 'python') return bracketsMatch(blankPython(text))
  try {
    stripTypeScriptTypes(text)
    return true
  } catch (error) {
    // Enums and the like are TypeScript, but not erasable: the file is as readable as before.
    return (error as NodeJS.ErrnoException).code === 'ERR_UNSUPPORTED_TYPESCRIPT_SYNTAX'
  }
}

const pairs: Record<string, string> = { ')': '(', ']': '[', '}': '{' }

function bracketsMatch(code: string): boolean {
  const open: string[] = []
  for (const char of code) {
    if ('([{'.includes(char)) open.push(char)
    else if (char in pairs && open.pop() !== pairs[char]) return false
  }
  return open.length === 0
}
