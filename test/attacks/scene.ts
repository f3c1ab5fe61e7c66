import { type ChildProcess, spawn } from 'node:child_process'
import { randomBytes } from 'node:crypto'
import { once } from 'node:events'
import { chmod, mkdir, mkdtemp, readFile, realpath, rm, writeFile } from 'node:fs/promises'
import { createServer, type ListenOptions, type Server } from 'node:net'
import { homedir, tmpdir } from 'node:os'
import { dirname, join } from 'node:path'
import { productRoot } from '../../shared/config.ts'
import { loadSigningKey } from '../../shared/keys/signing-key.ts'
import { startRedis } from '../support/redis.ts'
import { limits } from './attack.ts'

/** A machine worth an attack: a person's secrets, services and processes, all of them real. */
export type Scene = Awaited<ReturnType<typeof openScene>>

export async function openScene() {
  const folder = await realpath(await mkdtemp(join(tmpdir(), 'astra-scene-')))
  const secret = `astra-secret-${randomBytes(8).toString('hex')}`
  const plant = async (path: string, text: string) => {
    await mkdir(dirname(join(folder, path)), { recursive: true })
    await writeFile(join(folder, path), text)
    return join(folder, path)
  }
  const astraHome = join(folder, 'astra')
  loadSigningKey(astraHome)
  const signingKey = join(astraHome, 'keys/signing.pem')
  const pem = await readFile(signingKey, 'utf8')
  const redisSocket = join(astraHome, 'redis/redis.sock')
  const redis = await startRedis(redisSocket)
  const visitors = { count: 0 }
  const port = await listening({ host: '127.0.0.1', port: 0 }, visitors)
  const abstract = await listening({ path: `\0${secret.slice(6)}-abstract` }, visitors)
  const victim = await startVictim(secret)
  const known = {
    sshKey: await plant('person/.ssh/id_ed25519', `PRIVATE KEY ${secret}\n`),
    realHome: homedir(),
    astraHome,
    signingKey,
    redisSocket,
    port: port.number,
    freePort: await freePort(),
    abstractSocket: abstract.path,
    victim: victim.pid,
    workspace: dirname(await plant('person/shop/price.txt', 'as it was\n')),
    packageFile: await plant('person/shop/node_modules/left/index.js', 'as it was\n'),
    processes: limits.processes,
    toolchain: dirname(process.execPath),
    modules: join(productRoot, 'node_modules'),
  }
  const trapped = join(folder, 'trapped')
  const trap = await plant('person/trap.sh', `#!/bin/sh\n: > ${trapped}\n`)
  await plant('person/shop/.git/HEAD', 'ref: refs/heads/main\n')
  await plant('person/shop/.git/config', `[core]\n\tfsmonitor = ${trap}\n\thooksPath = hooks\n`)
  for (const name of ['objects', 'refs']) await plant(`person/shop/.git/${name}/.keep`, '')
  const planted = await plant('person/shop/node_modules/.bin/prlimit', HOSTILE_PRLIMIT)
  for (const program of [trap, planted]) await chmod(program, 0o755)
  return {
    folder,
    known,
    /** Parts of what nobody may read. */
    secrets: [secret, pem.split('\n')[1] ?? pem],
    visitors,
    victim,
    /** There as soon as a git of this machine obeyed the workspace's configuration. */
    trapped,
    async close() {
      victim.kill('SIGKILL')
      port.server.close()
      abstract.server.close()
      await redis.stop()
      await rm(folder, { recursive: true, force: true })
    },
  }
}

/** Sets no limit: runs what comes after it. */
const HOSTILE_PRLIMIT = `#!/bin/sh
while [ "$1" != -- ]; do shift; done
shift
exec "$@"
`

/** A process of the person's with a secret in its environment. */
async function startVictim(secret: string): Promise<ChildProcess> {
  const victim = spawn('sleep', ['300'], { env: { OPENAI_API_KEY: secret }, stdio: 'ignore' })
  await once(victim, 'spawn')
  return victim
}

async function listening(place: ListenOptions, visitors: { count: number }) {
  const server = createServer((socket) => {
    visitors.count += 1
    socket.destroy()
  })
  server.listen(place)
  await once(server, 'listening')
  return { server, number: portOf(server), path: String(server.address()) }
}

async function freePort(): Promise<number> {
  const { server, number } = await listening({ host: '127.0.0.1', port: 0 }, { count: 0 })
  server.close()
  await once(server, 'close')
  return number
}

function portOf(server: Server): number {
  const address = server.address()
  return typeof address === 'object' && address !== null ? address.port : 0
}
