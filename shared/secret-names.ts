import { basename, dirname } from 'node:path'
import picomatch from 'picomatch'

/**
 * Names of files, and of folders, that hold credentials. They never enter a snapshot and no tool
 * shows them, whatever a workspace's own configuration says: what is in a snapshot can reach a model.
 */
const files = [
  '.env*',
  '*.{pem,key,p8,p12,pfx,ppk,jks,keystore,keytab,kdbx}',
  'id_{rsa,dsa,ecdsa,ed25519}*',
  '{.,_}netrc',
  '.{npmrc,pypirc,pgpass,htpasswd,git-credentials,dockercfg}',
  '{,.}credentials{,.{json,yml,yaml,toml,ini,xml,csv,db}}',
  'client_secret*.json',
]
/** Fewer: a folder of source files may well be called `credentials`. */
const folders = ['.env*', '.{ssh,aws,gnupg,kube}']

const options = { dot: true, nocase: true }
const isSecretFile = picomatch(files, options)

export const isSecretFolder = picomatch(folders, options)

/** Whether a file of that relative path is a secret, or lies in a folder of them. */
export function isSecretPath(path: string): boolean {
  return (
    isSecretFile(basename(path)) ||
    dirname(path)
      .split('/')
      .some((name) => isSecretFolder(name))
  )
}
