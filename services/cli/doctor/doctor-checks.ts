import { execFile } from 'node:child_process'
import { access, constants, stat } from 'node:fs/promises'
import { join } from 'node:path'
import { promisify } from 'node:util'
import semver from 'semver'
import { type Config, productRoot } from '../../../shared/config.ts'
import { errorText, UnavailableError } from '../../../shared/errors.ts'
import { supervisorStatus } from '../../../shared/supervisor-client.ts'
import type { Check, Finding } from './check.ts'
import { examineAppendOnly } from './doctor-append-only.ts'
import { examineKeys } from './doctor-keys.ts'
import { examineLeftovers } from './doctor-leftovers.ts'
import { examineRedisServer } from './doctor-redis.ts'
import { examineRights } from './doctor-rights.ts'
import { examineSandbox } from './doctor-sandbox.ts'
import { examineSharedFolder } from './doctor-shared.ts'
import { examineStore } from './doctor-store.ts'
import { installRepair } from './install-repair.ts'

type Env = Record<string, string | undefined>

const run = promisify(execFile)
const PROGRAM_MS = 5_000

const ok = (found: string): Finding => ({ result: 'ok', found, advice: null })
const warn = (found: string, advice: string): Finding => ({ result: 'warn', found, advice })
const fail = (found: string, advice: string): Finding => ({ result: 'fail', found, advice })

/** All checks, in the order in which a new installation would meet them. Changes nothing. */
export async function examine(config: Config, env: Env): Promise<Check[]> {
  const checks: [string, () => Finding | Promise<Finding>][] = [
    ['node', checkNode],
    ['data folder', () => checkHome(config)],
    ['services', () => checkServices(config)],
    ['leftovers', () => examineLeftovers(config, env)],
    ['redis', () => checkRedis(config, env)],
    ['model file', () => checkModelFile(config)],
    ['memory', () => examineStore(config)],
    ['keys', () => examineKeys(config)],
    ['api key', () => checkKey(config)],
    ['git', () => checkGit(env)],
    ['sandbox', () => examineSandbox(config, env)],
  ]
  // With a Redis of this machine's own nothing goes to others.
  if ('url' in config.redis) checks.push(['shared folder', () => examineSharedFolder(config)])
  const done: Check[] = []
  for (const [name, check] of checks) {
    try {
      done.push({ name, ...(await check()) })
    } catch (error) {
      const advice =
        error instanceof UnavailableError
          ? `see ${join(config.home, 'logs')}, and end that process if it stays so`
          : 'this check should not fail: please report it'
      done.push({ name, ...fail(errorText(error), advice) })
    }
  }
  return done
}

function checkNode(): Finding {
  if (semver.gte(process.versions.node, '24.15.0')) return ok(process.version)
  return fail(
    process.version,
    '24.15 or newer is needed: https://nodejs.org, or `npm ci` in a clone, which brings one',
  )
}

async function checkHome({ home }: Config): Promise<Finding> {
  const stats = await stat(home).catch(() => null)
  if (!stats) return ok(`${home} (the first start makes it)`)
  if (!stats.isDirectory()) return fail(`${home} is no folder`, 'set ASTRA_HOME to a folder')
  const rights = await examineRights(home)
  if (rights) return rights
  return access(home, constants.W_OK).then(
    () => ok(home),
    () => fail(`${home} is not writable`, 'give yourself the right, or set ASTRA_HOME'),
  )
}

async function checkServices(config: Config): Promise<Finding> {
  const status = await supervisorStatus(config)
  if (!status) return ok('none run; a command that needs them starts them')
  const missing = status.processes.filter((each) => !each.ready).map((each) => each.name)
  if (missing.length === 0)
    return ok(`${status.processes.length} processes since ${status.started_at}`)
  return warn(`not ready: ${missing.join(', ')}`, `see their logs in ${join(config.home, 'logs')}`)
}

async function checkRedis(config: Config, env: Env): Promise<Finding> {
  if ('url' in config.redis || (await supervisorStatus(config))) return examineRedisServer(config)
  const install = 'apt-get install redis-server, brew install redis, or set REDIS_URL'
  for (const program of ['redis-server', 'valkey-server']) {
    const version = await versionOf(program, env)
    const number = semver.coerce(/v=([\d.]+)/.exec(version ?? '')?.[1])
    if (!version || !number) continue
    if (semver.lt(number, '6.2.0')) return fail(`${program} ${number}`, '6.2 or newer is needed')
    const found = ok(`${program} ${number}; the first start makes a private one`)
    return (await examineAppendOnly(config, env)) ?? found
  }
  return { ...fail('no redis-server', install), ...installRepair('redis-server', env) }
}

async function checkModelFile(config: Config): Promise<Finding> {
  const builtIn = join(productRoot, 'services/embedder/models/all-MiniLM-L6-v2')
  const folder = config.EMBEDDING_MODEL_PATH ?? builtIn
  for (const name of ['tokenizer.json', 'onnx/model_quantized.onnx']) {
    const stats = await stat(join(folder, name)).catch(() => null)
    if (!stats || stats.size === 0) {
      return fail(`no ${name} in ${folder}`, 'set EMBEDDING_MODEL_PATH, or clone or install again')
    }
  }
  return ok(folder)
}

function checkKey({ OPENAI_API_KEY }: Config): Finding {
  if (OPENAI_API_KEY) return ok('OPENAI_API_KEY is set (it was not tried)')
  return warn('no OPENAI_API_KEY', 'Astra needs one; `--offline` uses the stand-in instead')
}

async function checkGit(env: Env): Promise<Finding> {
  const version = await versionOf('git', env)
  return version
    ? ok(version)
    : warn('no git', 'nothing needs it yet; patches are easier to undo with it')
}

/** First line of `program --version`, or null when it is not there. */
async function versionOf(program: string, env: Env): Promise<string | null> {
  // Debian keeps servers where an ordinary PATH does not look.
  const PATH = `${env.PATH ?? ''}:/usr/local/bin:/usr/bin:/usr/sbin`
  return run(program, ['--version'], { env: { PATH }, timeout: PROGRAM_MS }).then(
    ({ stdout }) => stdout.split('\n')[0] ?? '',
    () => null,
  )
}
