import { readdir, stat } from 'node:fs/promises'
import { join } from 'node:path'
import { DatabaseSync } from 'node:sqlite'
import { Redis } from 'ioredis'
import { type Config, readConfig, withDotEnv } from '../../../shared/config.ts'
import { listRunViews } from '../../../shared/contracts/run-view.ts'
import { listTrustedKeys } from '../../../shared/keys/trusted-keys.ts'
import { logNames } from '../logs/read-logs.ts'
import { isScratchId } from '../scratch-run.ts'

type Value = { value: string; about: string }

/** What can be asked for. This is loaded for every press of a key: no service, nothing heavy. */
const sources = {
  runs: runs,
  memories: (config: Config) => memories(config, 'memory_id'),
  repositories: (config: Config) => memories(config, 'repository_id'),
  keys: async ({ home }: Config) =>
    listTrustedKeys(home).map(({ key_id, name }) => ({ value: key_id, about: name ?? '' })),
  services: async ({ home }: Config) =>
    (await logNames(join(home, 'logs'))).map((value) => ({ value, about: '' })),
} satisfies Record<string, (config: Config) => Promise<Value[]>>
export type Asked = keyof typeof sources

const REDIS_MS = 300
const MAX_VALUES = 100

/** Prints a value and what it is on each line. Whatever goes wrong, it prints nothing. */
export async function printAskedValues(
  what: string | undefined,
  env: Record<string, string | undefined>,
): Promise<void> {
  try {
    const source = Object.entries(sources).find(([name]) => name === what)?.[1]
    const values = (await source?.(readConfig(withDotEnv(env)))) ?? []
    for (const { value, about } of values.slice(0, MAX_VALUES)) {
      // It goes into a command line, where a shell would take anything else apart.
      if (!/^[\w.:/@+-]+$/.test(value)) continue
      process.stdout.write(
        `${value}\t${about
          .replace(/[\p{Cc}\\:]+/gu, ' ')
          .slice(0, 60)
          .trim()}\n`,
      )
    }
  } catch {
    // A key was pressed: nobody wants to read about a fault here.
  }
}

async function runs({ home, redis: address }: Config): Promise<Value[]> {
  const options = {
    connectTimeout: REDIS_MS,
    commandTimeout: REDIS_MS,
    maxRetriesPerRequest: 0,
    retryStrategy: () => null,
  }
  const redis =
    'url' in address ? new Redis(address.url, options) : new Redis({ ...options, ...address })
  redis.on('error', () => {})
  const late = AbortSignal.timeout(REDIS_MS)
  try {
    const views = await Promise.race([
      listRunViews(redis, MAX_VALUES),
      new Promise<never>((_, reject) => late.addEventListener('abort', () => reject(late.reason))),
    ])
    return views.map(({ run_id, status, workspace }) => ({
      value: run_id,
      about: `${status} ${workspace}`,
    }))
  } catch {
    return runFolders(join(home, 'runs'))
  } finally {
    redis.disconnect()
  }
}

/** The private Redis runs only while services do; the folders of the runs stay. */
async function runFolders(folder: string): Promise<Value[]> {
  const names = (await readdir(folder)).filter((name) => !isScratchId(name))
  const found = await Promise.all(
    names.map(async (value) => ({ value, made: (await stat(join(folder, value))).mtimeMs })),
  )
  return found.sort((a, b) => b.made - a.made).map(({ value }) => ({ value, about: '' }))
}

/** Of the embedded store, newest first; a server is not asked at the press of a key. */
async function memories({ home }: Config, which: 'memory_id' | 'repository_id'): Promise<Value[]> {
  const db = new DatabaseSync(join(home, 'memory', 'memory.db'), { readOnly: true })
  try {
    const rows = db
      .prepare('SELECT memory_id, record FROM memories ORDER BY confirmed_ms DESC LIMIT ?')
      .all(MAX_VALUES)
      .map(({ memory_id, record }) => ({ memory_id, ...JSON.parse(String(record)) }))
    const values = rows.map((row) =>
      which === 'memory_id'
        ? {
            value: String(row.memory_id),
            about: `${row.error_type ?? ''} ${row.fix_description ?? ''}`,
          }
        : { value: String(row.repository_id ?? ''), about: '' },
    )
    return [...new Map(values.map((each) => [each.value, each])).values()]
  } finally {
    db.close()
  }
}
