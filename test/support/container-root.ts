import { existsSync } from 'node:fs'
import { chmod, chown, mkdir, writeFile } from 'node:fs/promises'
import { dirname, join } from 'node:path'
import { productRoot } from '../../shared/config.ts'
import type { ComposeService } from './compose.ts'
import { image } from './image.ts'

const NODE = '/opt/node/bin/node'
export const CONTAINER_PATH = `${dirname(NODE)}:/usr/local/sbin:/usr/local/bin:/usr/sbin:/usr/bin:/sbin:/bin`

const FOLDERS = ['/app', '/app/ops', '/etc', '/opt', '/opt/node', '/opt/node/bin', '/run'].concat(
  '/run/secrets',
  '/var',
  '/var/lib',
)

/** Services that others reach by name, as Docker's DNS lets them. */
const HOSTS = ['redis', 'offline-model', 'dashboard']

/**
 * Arguments of bubblewrap that make the root of a service's container: what the image copies, system
 * folders of this machine in place of the image's, and the service's volumes, secrets and tmpfs. What
 * is made for it is kept in `folder`.
 */
export async function rootOf(
  folder: string,
  service: ComposeService,
  name: string,
): Promise<string[]> {
  const links = ['bin', 'sbin', 'lib', 'lib64'].flatMap((each) => [
    ...['--symlink', `usr/${each}`, `/${each}`],
  ])
  const copied = service.build ? image.copied : []
  return [
    // What bubblewrap makes by itself nobody else may enter.
    ...FOLDERS.flatMap((path) => ['--perms', '0755', '--dir', path]),
    ...['--ro-bind', '/usr', '/usr', ...links, '--dev', '/dev', '--bind', '/proc', '/proc'],
    ...(await etcOf(folder)),
    ...['--ro-bind', process.execPath, NODE],
    ...copied.flatMap((path) => ['--ro-bind', join(productRoot, path), join('/app', path)]),
    ...(service.build ? image.folders.paths : []).flatMap((path) => ['--dir', path]),
    ...service.tmpfs.flatMap(tmpfsOf),
    ...(await volumesOf(folder, service, name)),
    ...secretsOf(folder, service),
  ]
}

async function etcOf(folder: string): Promise<string[]> {
  const files = {
    passwd: 'root:x:0:0::/root:/bin/sh\nastra:x:10001:10001::/tmp:/bin/sh\n',
    group: 'root:x:0:\nastra:x:10001:\n',
    hosts: `127.0.0.1 localhost ${HOSTS.join(' ')}\n`,
    'nsswitch.conf': 'hosts: files\n',
  }
  const made = Object.entries(files).map(async ([name, text]) => {
    const path = join(folder, `etc-${name}`)
    await writeFile(path, text)
    await chmod(path, 0o644)
    return ['--ro-bind', path, `/etc/${name}`]
  })
  const taken = ['alternatives', 'ld.so.cache', 'python3', 'ssl']
    .map((name) => `/etc/${name}`)
    .filter((path) => existsSync(path))
  return [
    ...(await Promise.all(made)).flat(),
    ...taken.flatMap((path) => ['--ro-bind', path, path]),
  ]
}

function tmpfsOf(text: string): string[] {
  const [, target = '', size, unit, mode = ''] =
    /^(.*):size=(\d+)([mg]),mode=(\d+)/.exec(text) ?? []
  const bytes = Number(size) * (unit === 'g' ? 2 ** 30 : 2 ** 20)
  return ['--perms', mode, '--size', `${bytes}`, '--tmpfs', target]
}

async function volumesOf(folder: string, service: ComposeService, name: string) {
  const mounts = service.volumes.map((text) => {
    const [volume = '', target = volume, mode] = text.split(':')
    const source = join(folder, target === volume ? `anonymous-${name}` : `volume-${volume}`)
    return { source, target, bind: mode === 'ro' ? '--ro-bind' : '--bind' }
  })
  for (const { source, target } of mounts) {
    if (!existsSync(source)) await makeVolume(source, target, service)
  }
  // A folder before what is mounted in it.
  mounts.sort((a, b) => a.target.length - b.target.length)
  return mounts.flatMap(({ bind, source, target }) => [bind, source, target])
}

/** A new volume begins as what the image has at its place; where it has nothing, it belongs to root. */
async function makeVolume(source: string, target: string, service: ComposeService): Promise<void> {
  await mkdir(source)
  if (!service.build) {
    // The images of others give their user the folder of their data.
    const [uid = 0, gid = 0] = (service.user ?? '').split(':').map(Number)
    return chown(source, uid, gid)
  }
  const { paths, mode, uid, gid } = image.folders
  for (const path of paths.filter((each) => each === target || each.startsWith(`${target}/`))) {
    const made = join(source, path.slice(target.length))
    await mkdir(made, { recursive: true })
    await chmod(made, mode)
    await chown(made, uid, gid)
  }
}

/** Secrets are files of `folder`/secrets; the compose file has /dev/null for those that are not needed. */
function secretsOf(folder: string, { secrets }: ComposeService): string[] {
  return secrets.flatMap((secret) => {
    const { source, target } =
      typeof secret === 'string' ? { source: secret, target: `/run/secrets/${secret}` } : secret
    const path = join(folder, 'secrets', source)
    return ['--ro-bind', existsSync(path) ? path : '/dev/null', target]
  })
}
