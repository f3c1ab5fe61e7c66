import { readConfig, withDotEnv } from '../../shared/config.ts'
import { abandonedFolders, removeAbandonedFolders } from './copy/test-folder.ts'
import { killAbandoned } from './run/process-tree.ts'

/**
 * A program of its own, for `astra doctor`: the folders of test runs whose test-runner was killed, as
 * JSON. With `remove` they are removed, and what still runs there is ended.
 */
const { home } = readConfig(withDotEnv(process.env))
const folders = await abandonedFolders(home)
if (process.argv[2] === 'remove') {
  await killAbandoned(home)
  await removeAbandonedFolders(home)
}
process.stdout.write(JSON.stringify(folders))
