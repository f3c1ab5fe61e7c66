import { lintSource } from '@secretlint/core'
import { secretLintProfiler } from '@secretlint/profiler'
import { rules } from '@secretlint/secretlint-rule-preset-recommend'
import type { Finding } from './finding.ts'

const PREFIX = '@secretlint/secretlint-rule-'

// It would keep an entry for every rule of every text, for ever.
secretLintProfiler.setEnabled(false)

/**
 * Without `filter-comments`, by which a text could say that it is not to be looked at. To disable it
 * by its id has no effect.
 */
const config = {
  rules: rules
    .filter((rule) => rule.meta.id !== `${PREFIX}filter-comments`)
    .map((rule) => ({ id: rule.meta.id, rule })),
}

/** What secretlint's recommended rules find. */
export async function findBySecretlint(text: string): Promise<Finding[]> {
  const { messages } = await lintSource({
    source: { filePath: 'text.txt', ext: '.txt', contentType: 'text', content: text },
    options: { config, noPhysicFilePath: true },
  })
  // It counts from behind a byte order mark.
  const shift = text.startsWith('\ufeff') ? 1 : 0
  return messages.flatMap(({ ruleId, range, data }) => {
    const rule = ruleId.replace(PREFIX, '')
    const [start, end] = [range[0] + shift, range[1] + shift]
    const values = valuesOf(data).filter((value) => value.length >= 8)
    // Some rules give the range of the name before the value: what they say they found counts too.
    const places = values.map((value) => ({ value, at: text.indexOf(value, start) }))
    const found = places.filter(({ at }) => at !== -1)
    return [
      { start, end, rule },
      ...found.map(({ value, at }) => ({ start: at, end: at + value.length, rule })),
    ]
  })
}

function valuesOf(data: unknown): string[] {
  if (typeof data !== 'object' || data === null) return []
  return Object.values(data).filter((value) => typeof value === 'string')
}
