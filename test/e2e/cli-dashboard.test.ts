import { once } from 'node:events'
import { mkdtemp, readFile, rm } from 'node:fs/promises'
import { createServer } from 'node:http'
import type { AddressInfo } from 'node:net'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { afterAll, beforeAll, expect, it } from 'vitest'
import { startAstra } from '../support/cli.ts'

let home: string
let env: Record<string, string>
beforeAll(async () => {
  home = await mkdtemp(join(tmpdir(), 'astra-cli-dashboard-'))
  env = { XDG_CACHE_HOME: join(home, 'cache') }
})
afterAll(() => rm(home, { recursive: true, force: true }))

/** A server on a free port, which is free again when it is closed. */
async function portHolder() {
  const server = createServer().listen(0, '127.0.0.1')
  await once(server, 'listening')
  const { port } = server.address() as AddressInfo
  return { port, free: () => new Promise((resolve) => server.close(resolve)) }
}

it('serves until Ctrl-C, with a link that logs in once, and says where the token is', async () => {
  const { port, free } = await portHolder()
  await free()
  const astra = startAstra(['dashboard', '--port', String(port)], { home, env })
  await astra.says('Ctrl-C stops it')
  const [link = ''] = /http:\S+\/login\?ticket=\S+/.exec(astra.printed()) ?? []
  const entered = await fetch(link, { redirect: 'manual' })
  expect((await fetch(link, { redirect: 'manual' })).status).toBe(401)
  const [cookie = ''] = (entered.headers.get('set-cookie') ?? '').split(';')
  const fleet = await fetch(`http://127.0.0.1:${port}/fleet`, { headers: { cookie } })
  expect(fleet.status).toBe(200)
  expect(await fleet.text()).toContain('memory-store')
  astra.kill('SIGINT')
  const { code, stdout } = await astra.result
  expect(code).toBe(0)
  const tokenFile = join(home, 'astra', 'dashboard', 'token')
  const said = [stdout, await readFile(join(home, 'astra', 'logs', 'dashboard.log'), 'utf8')]
  expect(stdout).toContain(tokenFile)
  expect(said.join('')).not.toContain((await readFile(tokenFile, 'utf8')).trim())
  expect(said[1]).not.toContain(link.split('=')[1])
  await expect(fetch(link)).rejects.toThrow()
})

it('lets everybody on this machine in with --no-auth', async () => {
  const { port, free } = await portHolder()
  await free()
  const astra = startAstra(['dashboard', '--no-auth', '--port', String(port)], { home, env })
  await astra.says('Ctrl-C stops it')
  expect((await fetch(`http://127.0.0.1:${port}/fleet`)).status).toBe(200)
  astra.kill('SIGINT')
  expect((await astra.result).stdout).not.toContain('token')
})

it('says what to do when its port is taken', async () => {
  const { port, free } = await portHolder()
  const astra = startAstra(['dashboard', '--port', String(port)], { home, env })
  const { code, stderr } = await astra.result
  await free()
  expect(code).toBe(1)
  expect(stderr).toContain(`cannot listen at 127.0.0.1, port ${port}`)
  expect(stderr).toContain('--port')
})
