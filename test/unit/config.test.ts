import { mkdtemp, readFile, rm, writeFile } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { describe, expect, it } from 'vitest'
import {
  astraHome,
  productRoot,
  readConfig,
  redisSocketPath,
  withDotEnv,
} from '../../shared/config.ts'
import { ConfigError } from '../../shared/errors.ts'
import { userPath } from '../../shared/user-path.ts'

const home = { ASTRA_HOME: '/data/astra' }

describe('configuration', () => {
  it('has a default for everything that a run without a key needs', () => {
    const config = readConfig(home)
    expect(config).toMatchObject({ home: '/data/astra', ASTRA_MODEL: 'gpt-6-astra' })
    expect(config.redis).toEqual({ path: '/data/astra/run/redis.sock' })
  })

  it.each([
    ['ASTRA_MAX_REQUESTS', 'many'],
    ['ASTRA_MAX_REQUESTS', '0'],
    ['ASTRA_PROJECT_BUDGET_USD', '-1'],
    ['REDIS_URL', 'localhost:6379'],
    ['ASTRA_SHARED_DIR', 'shared/folder'],
    ['ASTRA_SNAPSHOT_REDIS_MB', '501'],
    ['ASTRA_PRICES', '1,2,3'],
    ['ASTRA_REASONING_EFFORT', 'none'],
    ['ASTRA_CHAIN', 'stateless'],
    ['ASTRA_SERVICE_TIER', 'fast'],
    ['ASTRA_LOG_LEVEL', 'loud'],
    ['ASTRA_STORE', 'postgres'],
    ['ASTRA_COLLECTION', 'my memory'],
    ['ASTRA_QDRANT_URL', 'nowhere'],
    ['ASTRA_QDRANT_URL', 'http://someone@host:6333'],
    ['ASTRA_VECTORAI_URL', 'localhost:16573'],
  ])('refuses %s=%s and names the variable', (name, value) => {
    expect(() => readConfig({ ...home, [name]: value })).toThrow(ConfigError)
    expect(() => readConfig({ ...home, [name]: value })).toThrow(new RegExp(name))
  })

  it('takes an empty variable as unset', () => {
    expect(
      readConfig({ ...home, OPENAI_API_KEY: '', REDIS_URL: '' }).OPENAI_API_KEY,
    ).toBeUndefined()
  })

  it('follows the XDG convention for its data', () => {
    expect(astraHome({ HOME: '/home/u' })).toBe('/home/u/.local/share/astra-codebase-memory')
    expect(astraHome({ HOME: '/home/u', XDG_DATA_HOME: '/x' })).toBe('/x/astra-codebase-memory')
  })

  it('moves a socket whose path is too long into a short folder of its own', () => {
    const long = `/${'d'.repeat(120)}`
    const path = redisSocketPath(long, { XDG_RUNTIME_DIR: '/run/user/1' })
    expect(Buffer.byteLength(path)).toBeLessThanOrEqual(107)
    expect(path).toMatch(/^\/run\/user\/1\/astra-[0-9a-f]{12}\/redis\.sock$/)
    expect(redisSocketPath(`${long}2`, { XDG_RUNTIME_DIR: '/run/user/1' })).not.toBe(path)
  })

  it('reads .env of ASTRA_HOME, and the environment wins over it', async () => {
    const folder = await mkdtemp(join(tmpdir(), 'astra-env-'))
    await writeFile(join(folder, '.env'), 'ASTRA_MODEL=from-file\nASTRA_MAX_REQUESTS=7\n')
    const env = withDotEnv({ ASTRA_HOME: folder, ASTRA_MODEL: 'from-env' })
    expect(env).toMatchObject({ ASTRA_MODEL: 'from-env', ASTRA_MAX_REQUESTS: '7' })
    await rm(folder, { recursive: true })
  })

  it('is explained in .env.example, every variable with its default', async () => {
    const example = await readFile(join(productRoot, '.env.example'), 'utf8')
    const source = await readFile(join(productRoot, 'shared/config.ts'), 'utf8')
    const known = [...source.matchAll(/^ {2}([A-Z][A-Z_]+):/gm)].map((match) => match[1])
    expect(known.length).toBeGreaterThan(15)
    for (const name of known)
      expect(example, `${name} is missing`).toMatch(new RegExp(`^#${name}=`, 'm'))
  })
})

describe("the PATH of a person's tests", () => {
  it('is without what npm adds, so that a workspace cannot find our runners', () => {
    const PATH = '/clone/node_modules/.bin:/node_modules/.bin:/x/node-gyp-bin:/usr/bin:/home/u/bin'
    expect(userPath({ PATH })).toBe('/usr/bin:/home/u/bin')
  })
})
