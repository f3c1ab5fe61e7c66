import { readdirSync, readFileSync } from 'node:fs'
import { join } from 'node:path'
import { describe, expect, it } from 'vitest'
import { productRoot } from '../../shared/config.ts'
import { createScrubber } from '../../shared/scrub/scrubber.ts'

const scrub = createScrubber([])

/** Lines that the rules change, by file: each a made-up password that stands in an address. */
const EXPECTED: Record<string, string[]> = {
  'test/integration/cli-usage.test.ts': [
    "const env = { REDIS_URL: 'redis://user:[removed: url-password]@127.0.0.1:1' }",
  ],
  'test/unit/cli-repository-id.test.ts': [
    "'https://user:[removed: url-password]@github.com/owner/name',",
    `'[remote "origin"]\\n\\turl = https://t:[removed: url-password]@y.org/c/d.git\\n[branch "main"]\\n\\tremote = origin\\n',`,
  ],
  'test/unit/secret-files.test.ts': [
    "const both = { REDIS_URL: 'redis://:[removed: url-password]@redis:6379', REDIS_PASSWORD: 'two' }",
  ],
}

/** These hold texts for the rules: one that is changed there says nothing of ordinary text. */
const OF_THE_RULES = /^(?:test\/unit\/scrub|test\/support\/fake-secrets|shared\/scrub\/)/

function filesBelow(folder: string): string[] {
  return readdirSync(join(productRoot, folder), { recursive: true, withFileTypes: true })
    .filter((entry) => entry.isFile())
    .map((entry) => join(entry.parentPath, entry.name).slice(productRoot.length + 1))
    .filter((file) => !/node_modules|\.(?:onnx|pyc|db|whl)$|tokenizer\.json$/.test(file))
}

describe('ordinary text is left as it is', () => {
  it.each(['services', 'shared', 'ops', 'docs', 'bin', 'demo_projects', 'test'])(
    'all files below %s, but for the made-up passwords in addresses',
    async (folder) => {
      const changed: Record<string, string[]> = {}
      for (const file of filesBelow(folder)) {
        if (OF_THE_RULES.test(file)) continue
        const before = readFileSync(join(productRoot, file), 'utf8')
        const { text } = await scrub(before)
        if (text === before) continue
        const lines = new Set(before.split('\n'))
        changed[file] = text
          .split('\n')
          .filter((line) => !lines.has(line))
          .map((line) => line.trim())
      }
      const ofFolder = Object.entries(EXPECTED).filter(([file]) => file.startsWith(`${folder}/`))
      expect(changed).toEqual(Object.fromEntries(ofFolder))
    },
  )

  it.each(['README.md', '.env.example', 'package.json', 'package-lock.json', 'biome.json'])(
    '%s',
    async (file) => {
      const text = readFileSync(join(productRoot, file), 'utf8')
      expect(await scrub(text)).toEqual({ text, removed: [] })
    },
  )
})
