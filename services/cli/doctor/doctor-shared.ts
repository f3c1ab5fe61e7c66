import { access, constants, stat } from 'node:fs/promises'
import type { Config } from '../../../shared/config.ts'
import type { Finding } from './check.ts'

/** Whether large snapshots can be put where ASTRA_SHARED_DIR says, and others can find them. */
export async function examineSharedFolder(
  config: Pick<Config, 'ASTRA_SHARED_DIR' | 'ASTRA_SNAPSHOT_REDIS_MB'>,
): Promise<Finding> {
  const { ASTRA_SHARED_DIR: folder, ASTRA_SNAPSHOT_REDIS_MB: limit } = config
  if (!folder) return ok(`none; snapshots and packages of up to ${limit} MB go through Redis`)
  const stats = await stat(folder).catch(() => null)
  if (!stats?.isDirectory()) {
    return fail(`${folder} is no folder here`, 'mount it, or set ASTRA_SHARED_DIR to where it is')
  }
  const isWritable = await access(folder, constants.R_OK | constants.W_OK | constants.X_OK).then(
    () => true,
    () => false,
  )
  if (isWritable) return ok(folder)
  return fail(`${folder} cannot be written to`, 'let the fleet’s account read and write it')
}

const ok = (found: string): Finding => ({ result: 'ok', found, advice: null })
const fail = (found: string, advice: string): Finding => ({ result: 'fail', found, advice })
