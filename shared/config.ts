import { createHash } from 'node:crypto'
import { existsSync, readFileSync } from 'node:fs'
import { availableParallelism, homedir, tmpdir } from 'node:os'
import { join, resolve } from 'node:path'
import { parseEnv } from 'node:util'
import { z } from 'zod'
import { ConfigError } from './errors.ts'
import type { RedisAddress } from './queue/connection.ts'
import { layeredEnv, withSecretsOfFiles } from './secret-files.ts'

type Env = Record<string, string | undefined>

/** The clone (or package) that this file belongs to. */
export const productRoot = resolve(import.meta.dirname, '..')

const whole = (min: number, max: number, byDefault: number) =>
  z.coerce.number().int().min(min).max(max).default(byDefault)
/** Where a server listens. */
const host = z
  .string()
  .regex(/^[A-Za-z0-9.:-]{1,253}$/, 'must be a host name or an address')
  .default('127.0.0.1')
const usd = (byDefault: number) => z.coerce.number().min(0).max(100_000).default(byDefault)

/** `input,cached,cache_write,output` in US dollars per million tokens. */
const pricesSchema = z
  .string()
  .transform((text) => text.split(',').map(Number))
  .refine(
    (values) =>
      values.length === 4 && values.every((value) => Number.isFinite(value) && value >= 0),
    'must be four numbers: input,cached,cache_write,output in US dollars per million tokens',
  )
  .transform(([input = 0, cached = 0, cacheWrite = 0, output = 0]) => ({
    input,
    cached,
    cacheWrite,
    output,
  }))

/** Addresses stand in messages and logs. */
const serverUrl = z
  .url({ protocol: /^https?$/ })
  .refine((url) => new URL(url).password === '' && new URL(url).username === '', {
    message: 'must hold no name and no password: a key has a variable of its own',
    when: ({ issues }) => issues.length === 0,
  })

/** All settings; `.env.example` explains each. Unknown variables are ignored. */
const settingsSchema = z.object({
  REDIS_URL: z.url({ protocol: /^rediss?$/ }).optional(),
  REDIS_PASSWORD: z.string().min(1).optional(),
  ASTRA_SHARED_DIR: z
    .string()
    .refine((path) => path.startsWith('/'), 'must be an absolute path')
    .optional(),
  ASTRA_SNAPSHOT_REDIS_MB: whole(1, 500, 32),
  ASTRA_LOG_LEVEL: z.enum(['fatal', 'error', 'warn', 'info', 'debug', 'trace']).default('info'),

  OPENAI_API_KEY: z.string().min(1).optional(),
  OPENAI_BASE_URL: z.url({ protocol: /^https?$/ }).default('https://api.openai.com/v1'),
  ASTRA_MODEL: z.string().min(1).default('gpt-6-astra'),
  ASTRA_REASONING_EFFORT: z.enum(['minimal', 'low', 'medium', 'high', 'xhigh']).default('low'),
  ASTRA_CHAIN: z.enum(['previous', 'resend']).default('previous'),
  ASTRA_SERVICE_TIER: z.enum(['auto', 'default', 'flex', 'priority']).optional(),
  ASTRA_PRICES: pricesSchema.optional(),
  ASTRA_REQUEST_SECONDS: whole(1, 3600, 300),
  ASTRA_IDLE_SECONDS: whole(1, 3600, 120),
  ASTRA_BACKGROUND: z.enum(['0', '1']).default('0'),

  ASTRA_MAX_REQUESTS: whole(1, 1000, 40),
  ASTRA_MAX_TOOL_CALLS: whole(1, 10_000, 120),
  ASTRA_MAX_TOKENS: whole(1000, 100_000_000, 1_000_000),
  ASTRA_MAX_OUTPUT_TOKENS: whole(16, 128_000, 8_000),
  ASTRA_RUN_SECONDS: whole(1, 86_400, 1800),
  ASTRA_RUN_BUDGET_USD: usd(2),
  ASTRA_DAY_BUDGET_USD: usd(10),
  ASTRA_PROJECT_BUDGET_USD: usd(20),

  ASTRA_TEST_SECONDS: whole(1, 3600, 300),
  ASTRA_TEST_OUTPUT_BYTES: whole(10_000, 100_000_000, 1_000_000),
  ASTRA_TEST_MEMORY_MB: whole(64, 1_000_000, 4096),
  ASTRA_TEST_DISK_MB: whole(16, 1_000_000, 1024),
  ASTRA_TEST_PROCESSES: whole(16, 100_000, Math.max(1024, 64 * availableParallelism())),
  ASTRA_RUN_CONCURRENCY: whole(1, 1000, 16),
  ASTRA_TEST_CONCURRENCY: whole(1, 64, 2),

  ASTRA_MEMORY_DAYS: z.coerce.number().int().min(1).max(36_500).optional(),
  ASTRA_MEMORY_SHARING: z.enum(['all', 'group', 'repository']).default('all'),
  ASTRA_MEMORY_GROUP: z.string().trim().min(1).max(200).optional(),

  ASTRA_STORE: z.enum(['sqlite', 'qdrant', 'vectorai']).default('sqlite'),
  ASTRA_COLLECTION: z
    .string()
    .regex(/^[A-Za-z0-9][A-Za-z0-9_-]{0,99}$/, 'must be 1 to 100 letters, digits, "_" or "-"')
    .default('astra_codebase_memory'),
  ASTRA_QDRANT_URL: serverUrl.default('http://127.0.0.1:6333'),
  ASTRA_QDRANT_API_KEY: z.string().min(1).optional(),
  ASTRA_VECTORAI_URL: serverUrl.default('http://127.0.0.1:16573'),
  ASTRA_VECTORAI_TOKEN: z.string().min(1).optional(),

  OTEL_EXPORTER_OTLP_ENDPOINT: z.url({ protocol: /^https?$/ }).optional(),

  EMBEDDING_MODEL_PATH: z.string().min(1).optional(),
  OFFLINE_MODEL_URL: z.url({ protocol: /^http$/ }).optional(),
  OFFLINE_MODEL_HOST: host,
  OFFLINE_MODEL_PORT: whole(0, 65_535, 0),

  ASTRA_DASHBOARD_HOST: host,
  ASTRA_DASHBOARD_PORT: whole(0, 65_535, 8377),
})

/** What one setting asks of another. */
const coherentSettings = settingsSchema
  .refine(
    ({ ASTRA_MEMORY_SHARING, ASTRA_MEMORY_GROUP }) =>
      ASTRA_MEMORY_SHARING !== 'group' || ASTRA_MEMORY_GROUP !== undefined,
    {
      path: ['ASTRA_MEMORY_GROUP'],
      message: 'must name the group that ASTRA_MEMORY_SHARING=group shares with',
    },
  )
  .refine(
    ({ REDIS_URL, REDIS_PASSWORD }) =>
      !REDIS_URL || !REDIS_PASSWORD || new URL(REDIS_URL).password === '',
    { path: ['REDIS_PASSWORD'], message: 'must be unset where REDIS_URL holds a password' },
  )

export type Config = z.infer<typeof settingsSchema> & {
  /** ASTRA_HOME: all data of this installation. */
  home: string
  redis: RedisAddress
}

/**
 * The configuration in `env`. Throws ConfigError that names the variable and what is allowed; a
 * bad value is never replaced by a default.
 */
export function readConfig(env: Env): Config {
  const given = Object.fromEntries(Object.entries(env).filter(([, value]) => value !== ''))
  const parsed = coherentSettings.safeParse(given)
  if (!parsed.success) {
    const lines = parsed.error.issues.map((issue) => `${issue.path.join('.')}: ${issue.message}`)
    throw new ConfigError(`bad configuration: ${lines.join('; ')}`, {
      hint: 'see .env.example for what each variable allows',
    })
  }
  const home = astraHome(env)
  const { REDIS_URL: url, REDIS_PASSWORD: password } = parsed.data
  const redis = url ? { url: withPassword(url, password) } : { path: redisSocketPath(home, env) }
  return { ...parsed.data, home, redis }
}

function withPassword(address: string, password: string | undefined): string {
  if (password === undefined) return address
  const url = new URL(address)
  url.password = encodeURIComponent(password)
  return url.href
}

/** ASTRA_HOME, or the XDG data folder. */
export function astraHome(env: Env): string {
  if (env.ASTRA_HOME) return resolve(env.ASTRA_HOME)
  const data = env.XDG_DATA_HOME || join(env.HOME || homedir(), '.local', 'share')
  return join(data, 'astra-codebase-memory')
}

/**
 * Where Node keeps compiled code, so that services start in half the time. Not below ASTRA_HOME: a
 * demo's temporary one would begin with an empty cache each time.
 */
export function compileCache(env: Env): string {
  const caches = env.XDG_CACHE_HOME || join(env.HOME || homedir(), '.cache')
  return env.NODE_COMPILE_CACHE || join(caches, 'astra-codebase-memory', 'compile')
}

/** The longest path that fits into sockaddr_un, without its terminating zero. */
const MAX_SOCKET_PATH = 107

/** A unix socket below `home`, or, where that path is too long for a socket, in a folder of our own. */
export function socketPath(home: string, name: string, env: Env): string {
  const direct = join(home, 'run', name)
  if (Buffer.byteLength(direct) <= MAX_SOCKET_PATH) return direct
  const digest = createHash('sha256').update(home).digest('hex').slice(0, 12)
  return join(env.XDG_RUNTIME_DIR || tmpdir(), `astra-${digest}`, name)
}

export function redisSocketPath(home: string, env: Env): string {
  return socketPath(home, 'redis.sock', env)
}

/**
 * The environment with `.env` of ASTRA_HOME and of the clone below it, and with the secrets that
 * stand in files. A workspace's `.env` is never read: its OPENAI_BASE_URL would send the key elsewhere.
 */
export function withDotEnv(env: Env): Env {
  const files = [join(productRoot, '.env'), join(astraHome(env), '.env')]
  const layers = files
    .filter((file) => existsSync(file))
    .map((file) => parseEnv(readFileSync(file, 'utf8')))
  return withSecretsOfFiles(layeredEnv([...layers, env]))
}
