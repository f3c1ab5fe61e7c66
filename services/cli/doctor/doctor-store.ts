import { accessSync, constants, existsSync, statfsSync } from 'node:fs'
import { join } from 'node:path'
import { DatabaseSync } from 'node:sqlite'
import semver from 'semver'
import type { Config } from '../../../shared/config.ts'
import { errorText } from '../../../shared/errors.ts'
import type { Finding } from './check.ts'

const ANSWER_MS = 5_000
/** A write-ahead log, a page of vectors and what Redis writes in the meantime. */
const LEAST_ROOM = 32 * 2 ** 20
const WAITING = 'what is confirmed waits until then'

const ok = (found: string): Finding => ({ result: 'ok', found, advice: null })
const fail = (found: string, advice: string): Finding => ({ result: 'fail', found, advice })

/** The store that ASTRA_STORE names: the file, or whether the server answers. Changes nothing. */
export async function examineStore(config: Config): Promise<Finding> {
  switch (config.ASTRA_STORE) {
    case 'sqlite':
      return examineFile(config)
    case 'qdrant':
      return examineServer('Qdrant', config.ASTRA_QDRANT_URL, 'ASTRA_QDRANT_URL')
    case 'vectorai':
      return examineServer('VectorAI DB', config.ASTRA_VECTORAI_URL, 'ASTRA_VECTORAI_URL')
  }
}

function examineFile({ home }: Config): Finding {
  const probe = new DatabaseSync(':memory:')
  const version = String(probe.prepare('select sqlite_version() as version').get()?.version)
  probe.close()
  if (semver.lt(version, '3.51.3')) return fail(`SQLite ${version}`, '3.51.3 or newer is needed')
  const file = join(home, 'memory', 'memory.db')
  const isThere = existsSync(file)
  return (
    examineDisk(home, isThere ? file : null) ??
    (isThere ? examineDatabase(file, version) : ok(`SQLite ${version}, no records yet`))
  )
}

/** Null when the disk can take records. */
function examineDisk(home: string, file: string | null): Finding | null {
  // The first start makes what is not there.
  const folder = [join(home, 'memory'), home].find((each) => existsSync(each))
  if (!folder) return null
  for (const path of [folder, ...(file === null ? [] : [file])]) {
    const problem = writeProblem(path)
    if (problem !== null) {
      return fail(`${path} cannot be written: ${problem}`, `make it writable: ${WAITING}`)
    }
  }
  const { bavail, bsize } = statfsSync(folder)
  if (bavail * bsize >= LEAST_ROOM) return null
  const left = Math.floor((bavail * bsize) / 2 ** 20)
  return fail(`${left} MB are left on the disk of ${folder}`, `make room: ${WAITING}`)
}

function writeProblem(path: string): string | null {
  try {
    accessSync(path, constants.W_OK)
    return null
  } catch (error) {
    return errorText(error)
  }
}

function examineDatabase(file: string, version: string): Finding {
  try {
    const db = new DatabaseSync(file, { readOnly: true })
    try {
      const result = String(db.prepare('pragma quick_check').get()?.quick_check)
      if (result === 'ok') return ok(`SQLite ${version}, ${file}`)
      return fail(`${file} is damaged: ${result}`, 'put a backup in its place')
    } finally {
      db.close()
    }
  } catch (error) {
    return fail(`${file}: ${errorText(error)}`, 'put a backup in its place, or move it away')
  }
}

/** Whether it is the memory's to use, the memory-store tells when it starts. */
async function examineServer(name: string, address: string, variable: string): Promise<Finding> {
  const { origin, pathname } = new URL(address)
  const url = origin + pathname.replace(/\/$/, '')
  const advice = `is it running, and is ${variable} right?`
  try {
    const answer = await fetch(`${url}/healthz`, { signal: AbortSignal.timeout(ANSWER_MS) })
    return answer.ok ? ok(`${name} at ${url}`) : fail(`${name} at ${url}: ${answer.status}`, advice)
  } catch (error) {
    return fail(`${name} does not answer at ${url}: ${errorText(error)}`, advice)
  }
}
