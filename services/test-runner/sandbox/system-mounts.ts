import { existsSync, lstatSync, readlinkSync } from 'node:fs'
import { chmod, writeFile } from 'node:fs/promises'
import { join } from 'node:path'
import type { Mount } from './sandbox.ts'

/** Parts of /etc that programs read; nothing that names people, networks or secrets. */
const ETC = [
  'alternatives',
  'ca-certificates',
  'crypto-policies',
  'fonts',
  'gai.conf',
  'host.conf',
  'ld.so.cache',
  'ld.so.conf',
  'ld.so.conf.d',
  'localtime',
  'locale.alias',
  'mime.types',
  'nsswitch.conf',
  'pki/tls/certs',
  'pki/ca-trust',
  'protocols',
  'python3',
  'services',
  'ssl/certs',
  'ssl/openssl.cnf',
  'terminfo',
  'timezone',
]

/** The system's programs and libraries, read-only, as arguments of bwrap. */
export function systemMounts(): string[] {
  const roots = ['bin', 'sbin', 'lib', 'lib32', 'lib64', 'libx32'].flatMap((name) => {
    const path = `/${name}`
    if (!existsSync(path)) return []
    return lstatSync(path).isSymbolicLink()
      ? ['--symlink', readlinkSync(path), path]
      : ['--ro-bind', path, path]
  })
  const etc = ETC.map((name) => join('/etc', name))
    .filter((path) => existsSync(path))
    .flatMap((path) => ['--ro-bind', path, path])
  return ['--ro-bind', '/usr', '/usr', ...roots, ...etc]
}

/** Files that tests get instead of the machine's; they are made in `root`. */
export async function etcMounts(root: string, uid: number): Promise<Mount[]> {
  const files = {
    passwd: `tests:x:${uid}:${uid}:tests:/tmp/home:/bin/sh\n`,
    group: `tests:x:${uid}:\n`,
    hosts: '127.0.0.1 localhost sandbox\n::1 localhost\n',
  }
  const mounts = Object.entries(files).map(async ([name, text]) => {
    const source = join(root, name)
    await writeFile(source, text)
    // Whatever our umask is, another uid reads them.
    await chmod(source, 0o644)
    return { source, target: join('/etc', name) }
  })
  return Promise.all(mounts)
}
