import { randomBytes } from 'node:crypto'
import { chmod, chown, mkdir, mkdtemp, readFile, rm, writeFile } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { afterAll, beforeAll, describe, expect, it } from 'vitest'
import { readCompose, serviceOf } from '../support/compose.ts'
import {
  type Container,
  type ContainerOptions,
  canMakeContainers,
  type Network,
  startContainer,
  startNetwork,
} from '../support/container.ts'
import { canCompileSeccomp, compileSeccomp, seccompProfile } from '../support/seccomp.ts'

/** For processes that start on a busy machine, and for heartbeats, which are believed for 16 s. */
const WAIT = { timeout: 90_000, interval: 500 }
const OURS = ['offline-model', 'memory-store', 'test-runner', 'agent-runner', 'dashboard']
const EMBEDDERS = ['embedder-1', 'embedder-2', 'embedder-3', 'embedder-4']
const UID = 10_001

const compose = readCompose()
const password = randomBytes(24).toString('hex')
const containers = new Map<string, Container>()
let folder: string
let network: Network
let seccomp: string | undefined

async function start(name: string, more: Partial<ContainerOptions> & { command?: string[] } = {}) {
  const { command, ...options } = more
  const service = serviceOf(compose, name.replace(/-\d$/, ''))
  const container = await startContainer(command ? { ...service, command } : service, {
    ...{ name, folder, network: network.pid },
    ...(name === 'test-runner' && seccomp !== undefined ? { seccomp } : {}),
    ...options,
  })
  containers.set(name, container)
  return container
}

function container(name: string): Container {
  const found = containers.get(name)
  if (!found) throw new Error(`${name} was not started`)
  return found
}

/** What the service's own health check says in its container; '' when it is well. */
function illness(name: string): string {
  const [kind, ...words] = serviceOf(compose, name.replace(/-\d$/, '')).healthcheck?.test ?? []
  const argv = kind === 'CMD-SHELL' ? ['sh', '-c', ...words] : words
  const { code, output } = container(name).exec(argv)
  return code === 0 ? '' : `${output}; the container said: ${container(name).output()}`
}

const becomesWell = (name: string) => expect.poll(() => illness(name), WAIT).toBe('')

describe.skipIf(!canMakeContainers)(
  'the fleet of docker-compose.yml, in containers that root makes',
  () => {
    beforeAll(async () => {
      folder = await mkdtemp(join(tmpdir(), 'astra-containers-'))
      await chmod(folder, 0o755)
      await mkdir(join(folder, 'secrets'))
      await writeFile(join(folder, 'secrets', 'redis_password'), `${password}\n`)
      await writeFile(join(folder, 'secrets', 'dashboard_token'), `${'token-'.repeat(8)}\n`)
      if (canCompileSeccomp)
        seccomp = await compileSeccomp(seccompProfile(), join(folder, 'filter'))
      network = await startNetwork()
    })
    afterAll(async () => {
      for (const { child } of containers.values()) child.kill('SIGKILL')
      await Promise.all([...containers.values()].map(({ ended }) => ended))
      await network.stop()
      await rm(folder, { recursive: true })
    })

    it('has a Redis that asks for its password, keeps every key and writes them down', async () => {
      await start('redis')
      await becomesWell('redis')
      const { exec } = container('redis')
      expect(exec(['redis-cli', 'ping']).output).toMatch(/NOAUTH/)
      const ask = (...words: string[]) =>
        exec(['env', `REDISCLI_AUTH=${password}`, 'redis-cli', ...words]).output
      expect(ask('config', 'get', 'maxmemory-policy')).toMatch(/noeviction/)
      expect(ask('config', 'get', 'appendonly')).toMatch(/yes/)
      expect(ask('config', 'get', 'appendfsync')).toMatch(/everysec/)
      expect(ask('config', 'get', 'maxmemory')).toMatch(/1073741824/)
      const arguments_ = exec(['sh', '-c', 'cat /proc/[0-9]*/cmdline']).output
      expect(arguments_).toMatch(/redis-server/)
      expect(arguments_).not.toContain(password)
    })

    it('has every service of ours, four embedders among them, and each is well', async () => {
      await Promise.all([...OURS, ...EMBEDDERS].map((name) => start(name)))
      for (const name of [...OURS, ...EMBEDDERS]) await becomesWell(name)
    }, 300_000)

    it('shows the signing key to the test-runner alone, and nobody may write what is trusted', () => {
      const { exec } = container('memory-store')
      expect(exec(['ls', '/var/lib/astra/keys']).output).toBe('trusted\n')
      expect(exec(['ls', '/var/lib/astra/keys/trusted']).output).toMatch(/^[0-9a-f]{16}\.json\n$/)
      const touch = ['touch', '/var/lib/astra/keys/trusted/x']
      expect(exec(touch).output).toMatch(/Read-only file system/)
      const keys = container('test-runner').exec(['ls', '/var/lib/astra/keys']).output
      expect(keys).toBe('signing.pem\ntrusted\n')
    })

    it('gives none of its services a capability, or a place to write but its own', () => {
      for (const name of [...OURS, 'embedder-1', 'redis']) {
        const { exec } = container(name)
        const status = exec(['sh', '-c', 'cat /proc/self/status; touch /x /usr/x']).output
        expect(status, name).toMatch(/CapPrm:\s0+\n.*CapEff:\s0+\nCapBnd:\s0+\n/s)
        expect(status, name).toMatch(/NoNewPrivs:\s1\n/)
        expect(status.match(/Read-only file system|Permission denied/g), name).toHaveLength(2)
      }
    })

    it('repairs a project for whoever asks from a container of their own', async () => {
      const workspace = join(folder, 'workspace')
      await mkdir(workspace)
      const files = {
        'package.json': '{ "type": "module", "scripts": { "test": "node --test" } }\n',
        'add.js': 'export function add(a, b) {\n  return a - b\n}\n',
        'add.test.js':
          "import assert from 'node:assert/strict'\nimport { test } from 'node:test'\n" +
          "import { add } from './add.js'\n\ntest('adds', () => assert.equal(add(2, 3), 5))\n",
      }
      await chown(workspace, UID, UID)
      for (const [name, text] of Object.entries(files)) {
        await writeFile(join(workspace, name), text)
        await chown(join(workspace, name), UID, UID)
      }
      const cli = await start('cli', {
        command: ['fix', '/workspace', '--offline'],
        mounts: ['--bind', workspace, '/workspace'],
      })
      expect(await cli.ended, cli.output()).toBe(0)
      expect(await readFile(join(workspace, 'add.js'), 'utf8')).toContain('a + b')
      const list = await start('cli', { command: ['memory', 'list', '--json'] })
      expect(await list.ended, list.output()).toBe(0)
      const { records } = JSON.parse(list.output())
      expect(records).toMatchObject([{ proved: true }])
    }, 180_000)

    it('sees a service ill that is frozen, and well again when it goes on', async () => {
      container('embedder-1').signal('SIGSTOP')
      await expect.poll(() => illness('embedder-1'), WAIT).toMatch(/no heartbeat of embedder/)
      expect(illness('embedder-2')).toBe('')
      container('embedder-1').signal('SIGCONT')
      await becomesWell('embedder-1')
    }, 200_000)

    it('sees a server ill that has a heartbeat and does not answer', async () => {
      const { exec } = container('offline-model')
      const elsewhere = ['node', 'ops/healthcheck.ts', 'offline-model', 'http://127.0.0.1:8401/']
      expect(exec(elsewhere)).toMatchObject({ code: 1 })
      const refusing = ['node', 'ops/healthcheck.ts', 'offline-model', 'http://127.0.0.1:8400/v1/x']
      expect(exec(refusing).output).toMatch(/answers 401/)
    })

    it('sees the dashboard ill as long as a part of the fleet is gone', async () => {
      const { ended, signal } = container('memory-store')
      signal('SIGKILL')
      await ended
      await expect.poll(() => illness('dashboard'), WAIT).toMatch(/503.*memory-store/s)
      await start('memory-store')
      await becomesWell('dashboard')
    }, 300_000)

    it('ends every service within the time that it is given, with its work handed back', async () => {
      for (const name of [...OURS, ...EMBEDDERS]) container(name).signal('SIGTERM')
      for (const name of [...OURS, ...EMBEDDERS]) {
        expect(await container(name).ended, `${name}: ${container(name).output()}`).toBe(0)
      }
    }, 60_000)

    it('sees everything ill while Redis is away, and says why', async () => {
      await start('embedder-1')
      await becomesWell('embedder-1')
      container('redis').signal('SIGTERM')
      expect(await container('redis').ended).toBe(0)
      expect(illness('embedder-1')).toMatch(/Redis does not answer/)
    }, 200_000)
  },
)
