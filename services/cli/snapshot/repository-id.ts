import { sha256 } from '../../../shared/contracts/ids.ts'
import type { GitFolder } from './git-folder.ts'
import { readSettingsFile } from './settings-file.ts'

const MAX_LENGTH = 200

/**
 * A name for the repository that is the same in every clone: host and path of its remote, without
 * credentials. Without a remote that others can reach it is a hash of the folder's real path.
 */
export async function repositoryIdOf(workspace: string, git: GitFolder | null): Promise<string> {
  const config = git ? await readSettingsFile(git.commonDir, 'config') : null
  const remote = remoteUrl(config ?? '')
  const id = remote === null ? null : normaliseRemote(remote)
  if (id === null) return `path:${sha256(git?.root ?? workspace).slice(0, 32)}`
  return id.length <= MAX_LENGTH ? id : `remote:${sha256(id).slice(0, 32)}`
}

/** The url of `origin` in a git config file, or of its first remote. */
function remoteUrl(config: string): string | null {
  const urls = new Map<string, string>()
  let remote: string | undefined
  for (const line of config.split(/\r?\n/)) {
    if (/^\s*\[/.test(line)) {
      remote = /^\s*\[remote "(.*)"\]/.exec(line)?.[1]
      continue
    }
    const url = /^\s*url\s*=\s*"?([^"]*?)"?\s*$/i.exec(line)?.[1]
    if (remote !== undefined && url && !urls.has(remote)) urls.set(remote, url)
  }
  return urls.get('origin') ?? urls.values().next().value ?? null
}

/** `host/owner/name` of a remote in any of git's spellings; null for a path on this machine. */
export function normaliseRemote(remote: string): string | null {
  const short = /^(?:[^@/]+@)?([A-Za-z0-9.-]+):(?!\/\/)(.+)$/.exec(remote)
  if (short?.[1] && short[2]) return joinRemote(short[1], short[2])
  if (!URL.canParse(remote)) return null
  const url = new URL(remote)
  return url.host === '' ? null : joinRemote(url.host, decodeURI(url.pathname))
}

function joinRemote(host: string, path: string): string {
  const bare = path.replace(/^\/+|\/+$/g, '').replace(/\.git$/, '')
  return `${host.toLowerCase()}/${bare}`
}
