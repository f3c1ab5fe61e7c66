/**
 * Source text with the contents of strings and comments replaced by spaces, at the same offsets:
 * what a pattern finds there is code. Quotes stay, so that literals can still be recognised.
 */

const spaces = (text: string) => text.replace(/[^\n]/g, ' ')
const inside = (literal: string, open: number, close: number) =>
  literal.slice(0, open) +
  spaces(literal.slice(open, literal.length - close)) +
  literal.slice(-close)

const pythonToken =
  /#[^\n]*|[rRbBfFuU]{0,2}("""|''')[\s\S]*?\1|[rRbBfFuU]{0,2}("|')(?:\\[\s\S]|(?!\2)[^\\\n])*\2/g

export function blankPython(text: string): string {
  return text.replace(pythonToken, (token, triple?: string, single?: string) => {
    const quote = triple ?? single
    if (quote === undefined) return spaces(token)
    return inside(token, token.indexOf(quote) + quote.length, quote.length)
  })
}

const comment = /\/\/[^\n]*|\/\*[\s\S]*?\*\//y
const string = /"(?:\\[\s\S]|[^"\\\n])*"|'(?:\\[\s\S]|[^'\\\n])*'/y
const regex = /\/(?:\\.|\[(?:\\.|[^\]\\\n])*\]|[^/\\\n[])+\/[a-z]*/y
const templatePart = /(?:\\[\s\S]|\$(?!\{)|[^\\`$])*/y

/** A slash starts a regular expression where a value cannot have ended. */
const beforeRegex = /(?:^|[(,=:[!&|?{};+\-*%<>~^]|\breturn|\btypeof|\bcase|=>)\s*$/

export function blankScript(text: string): string {
  let code = ''
  let at = 0
  /** Open braces inside each `${`; the innermost template is last. */
  const templates: number[] = []

  const take = (pattern: RegExp): string | null => {
    pattern.lastIndex = at
    const found = pattern.exec(text)?.[0]
    if (found === undefined) return null
    at += found.length
    return found
  }
  const takeTemplate = () => {
    code += spaces(take(templatePart) ?? '')
    if (text.startsWith('${', at)) {
      templates.push(0)
      code += '${'
      at += 2
    } else if (at < text.length) {
      code += '`'
      at += 1
    }
  }
  const takeBrace = (brace: string): boolean => {
    const depth = templates.at(-1)
    if (depth === undefined) return false
    if (brace === '}' && depth === 0) {
      templates.pop()
      code += '}'
      at += 1
      takeTemplate()
      return true
    }
    templates[templates.length - 1] = depth + (brace === '{' ? 1 : -1)
    return false
  }
  const takeLiteral = (char: string): boolean => {
    if (char === '`') {
      code += '`'
      at += 1
      takeTemplate()
      return true
    }
    if (char === '{' || char === '}') return takeBrace(char)
    return char === '/' ? takeSlash() : takeString()
  }
  const takeSlash = (): boolean => {
    const remark = take(comment)
    if (remark !== null) {
      code += spaces(remark)
      return true
    }
    const pattern = beforeRegex.test(code.slice(-80)) ? take(regex) : null
    if (pattern === null) return false
    const end = pattern.lastIndexOf('/')
    code += `/${spaces(pattern.slice(1, end))}${pattern.slice(end)}`
    return true
  }
  const takeString = (): boolean => {
    const literal = take(string)
    if (literal === null) return false
    code += inside(literal, 1, 1)
    return true
  }

  while (at < text.length) {
    const char = text.charAt(at)
    if ('`{}/"\''.includes(char) && takeLiteral(char)) continue
    code += char
    at += 1
  }
  return code
}
