import { mkdtemp, rm, writeFile } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { Redis } from 'ioredis'
import { afterAll, beforeAll, describe, expect, it } from 'vitest'
import { readConfig, withDotEnv } from '../../shared/config.ts'
import { ConfigError } from '../../shared/errors.ts'
import { secretsOf } from '../../shared/scrub/known-secrets.ts'

let folder: string
beforeAll(async () => {
  folder = await mkdtemp(join(tmpdir(), 'astra-secrets-'))
})
afterAll(() => rm(folder, { recursive: true }))

const file = async (name: string, text: string) => {
  await writeFile(join(folder, name), text)
  return join(folder, name)
}
const dotEnv = (text: string) => file('.env', text)
const env = (given: Record<string, string>) => withDotEnv({ ASTRA_HOME: folder, ...given })

describe('a secret that stands in a file', () => {
  it.each([
    'REDIS_URL',
    'REDIS_PASSWORD',
    'OPENAI_API_KEY',
    'ASTRA_QDRANT_API_KEY',
    'ASTRA_VECTORAI_TOKEN',
  ])('is read for %s, without the line end, and its file is not passed on', async (name) => {
    await dotEnv('')
    const path = await file('secret', '  redis://s3cret \r\n')
    const result = env({ [`${name}_FILE`]: path })
    expect(result[name]).toBe('redis://s3cret')
    expect(result).not.toHaveProperty(`${name}_FILE`)
  })

  it('is refused beside the secret itself, and names both variables', async () => {
    await dotEnv('')
    const both = { OPENAI_API_KEY: 'sk-a', OPENAI_API_KEY_FILE: await file('key', 'sk-b') }
    expect(() => env(both)).toThrow(ConfigError)
    expect(() => env(both)).toThrow(/OPENAI_API_KEY and OPENAI_API_KEY_FILE are both set/)
  })

  it('is refused when the file is missing or empty, and names variable and file', async () => {
    await dotEnv('')
    const missing = join(folder, 'missing')
    expect(() => env({ OPENAI_API_KEY_FILE: missing })).toThrow(/OPENAI_API_KEY_FILE.*missing/)
    expect(() => env({ OPENAI_API_KEY_FILE: missing })).toThrow(ConfigError)
    const empty = await file('empty', ' \n')
    expect(() => env({ REDIS_PASSWORD_FILE: empty })).toThrow(/REDIS_PASSWORD_FILE.*is empty/)
  })

  it('is unset by an empty variable', async () => {
    await dotEnv('')
    expect(env({ OPENAI_API_KEY_FILE: '' })).not.toHaveProperty('OPENAI_API_KEY')
  })

  it('of .env gives way to the secret of the environment, and is not even looked at', async () => {
    await dotEnv('OPENAI_API_KEY_FILE=/nowhere\n')
    expect(env({ OPENAI_API_KEY: 'sk-env' }).OPENAI_API_KEY).toBe('sk-env')
  })

  it('of .env is hidden by an empty secret: services without a key get none', async () => {
    await dotEnv(`OPENAI_API_KEY_FILE=${await file('key', 'sk-b')}\n`)
    expect(env({}).OPENAI_API_KEY).toBe('sk-b')
    expect(env({ OPENAI_API_KEY: '' }).OPENAI_API_KEY).toBe('')
  })

  it('of the environment wins over the secret of .env', async () => {
    await dotEnv('OPENAI_API_KEY=sk-dot-env\n')
    const path = await file('key', 'sk-file')
    expect(env({ OPENAI_API_KEY_FILE: path }).OPENAI_API_KEY).toBe('sk-file')
  })
})

describe('the password of Redis', () => {
  const password = 'p@ss:w/rd%41 #?é'

  it('goes into its address, and arrives as it was', () => {
    const { redis } = readConfig({ REDIS_URL: 'redis://redis:6379/2', REDIS_PASSWORD: password })
    if (!('url' in redis)) throw new Error('no address')
    const { host, port, db, ...options } = new Redis(redis.url, { lazyConnect: true }).options
    expect({ host, port, db }).toEqual({ host: 'redis', port: 6379, db: 2 })
    expect(options.password).toBe(password)
  })

  it('is refused where the address holds one', () => {
    const both = { REDIS_URL: 'redis://:one@redis:6379', REDIS_PASSWORD: 'two' }
    expect(() => readConfig(both)).toThrow(/REDIS_PASSWORD/)
  })

  it('changes nothing for a private Redis', () => {
    expect(readConfig({ ASTRA_HOME: '/a', REDIS_PASSWORD: password }).redis).toEqual({
      path: '/a/run/redis.sock',
    })
  })

  it('is a secret that no text may hold', () => {
    expect(secretsOf(readConfig({ REDIS_PASSWORD: 'a long password' }))).toEqual([
      'a long password',
    ])
  })
})
