import { basename } from 'node:path'
import picomatch from 'picomatch'

/**
 * Names of files that hold credentials. They never enter a snapshot, whatever a workspace's own
 * configuration says: what is in a snapshot can reach a model.
 */
const patterns = [
  '.env*',
  '*.{pem,key,p12,pfx,jks,keystore,kdbx}',
  'id_{rsa,dsa,ecdsa,ed25519}*',
  '{.,_}netrc',
  '.{npmrc,pypirc,pgpass,htpasswd,git-credentials,dockercfg}',
  'credentials{,.json}',
]

const matches = picomatch(patterns, { dot: true, nocase: true })

export function isSecretFile(path: string): boolean {
  return matches(basename(path))
}
