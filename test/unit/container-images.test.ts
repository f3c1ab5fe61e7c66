import { existsSync, readFileSync } from 'node:fs'
import { join, relative } from 'node:path'
import { describe, expect, it } from 'vitest'
import { productRoot } from '../../shared/config.ts'
import { apparmorFile, canParseAppArmor, parseAppArmor } from '../support/apparmor.ts'
import { readCompose, serviceOf } from '../support/compose.ts'
import { dockerfile, image } from '../support/image.ts'
import { seccompFile, seccompProfile } from '../support/seccomp.ts'

const compose = readCompose()
const services = Object.entries(compose.services)
const own = services.filter(([, service]) => service.build !== undefined)

describe('the images', () => {
  it('stand on the Node that the tests run on, and on no tag that moves', () => {
    const [, version] = /^ARG NODE_IMAGE=node:(\S+)-bookworm-slim$/m.exec(dockerfile) ?? []
    expect(`v${version}`).toBe(process.version)
  })

  it('run as an ordinary user, the one of the compose file', () => {
    const users = [...dockerfile.matchAll(/^(?:FROM .* AS|USER) (\S+)$/gm)].map((match) => match[1])
    expect(users).toEqual([
      ...['dependencies', 'services', '10001:10001', 'test-runner', 'root', '10001:10001'],
    ])
    expect(image.folders).toMatchObject({ uid: 10_001, gid: 10_001, mode: 0o700 })
    for (const [name, { user }] of own) expect(user, name).toBe('10001:10001')
  })

  it('are given all that they copy by .dockerignore, and no secret, data or test', () => {
    const ignore = readFileSync(join(productRoot, '.dockerignore'), 'utf8').split('\n')
    const allowed = ignore.flatMap((line) => (line.startsWith('!') ? [line.slice(1)] : []))
    expect(ignore.find((line) => line !== '' && !line.startsWith('#'))).toBe('*')
    // Packages are installed inside.
    const copied = image.copied.filter((path) => path !== 'node_modules')
    expect(allowed.sort()).toEqual([...copied, 'ops', 'package-lock.json'].sort())
    expect(ignore).toContain('ops/*')
    for (const path of copied) expect(existsSync(join(productRoot, path)), path).toBe(true)
  })

  it('have a folder for each volume of ours, so that a new one belongs to its user', () => {
    const targets = own.flatMap(([, { volumes }]) =>
      volumes.map((volume) => volume.split(':')[volume.includes(':') ? 1 : 0]),
    )
    for (const target of targets) expect(image.folders.paths).toContain(target)
  })

  it('of the test-runner has what its sandbox is made with', () => {
    expect(dockerfile).toMatch(/apt-get install -y --no-install-recommends bubblewrap /)
  })
})

describe("the test-runner's profiles", () => {
  const { security_opt } = serviceOf(compose, 'test-runner')
  const option = (name: string) =>
    security_opt.find((each) => each.startsWith(`${name}=`))?.slice(name.length + 1)

  it('are those of ops/docker, and those of no other container', () => {
    expect(option('seccomp')).toBe(relative(productRoot, seccompFile))
    expect(readFileSync(apparmorFile, 'utf8')).toContain(`profile ${option('apparmor')} `)
    const others = services.filter(([, service]) => service.security_opt.length > 1)
    expect(others.map(([name]) => name)).toEqual(['test-runner'])
  })

  it('let through what bubblewrap needs beyond Docker, and deny the rest as Docker does', () => {
    const { defaultAction, defaultErrnoRet, syscalls } = seccompProfile()
    expect({ defaultAction, defaultErrnoRet }).toEqual({
      defaultAction: 'SCMP_ACT_ERRNO',
      defaultErrnoRet: 1,
    })
    const allowed = syscalls.flatMap(({ action, names }) =>
      action === 'SCMP_ACT_ALLOW' ? names : [],
    )
    const dangerous = [
      'bpf',
      'init_module',
      'keyctl',
      'kexec_load',
      'perf_event_open',
      'reboot',
    ].concat('add_key', 'io_uring_setup', 'open_by_handle_at', 'setns', 'swapon', 'userfaultfd')
    expect(allowed.filter((name) => dangerous.includes(name))).toEqual([])
    const unconditional = syscalls.filter((rule) => rule.args === undefined)
    expect(unconditional.find(({ names }) => names.includes('clone3'))?.errnoRet).toBe(38)
  })

  it.skipIf(!canParseAppArmor)("are AppArmor's language (needs Debian's package apparmor)", () => {
    expect(parseAppArmor(readFileSync(apparmorFile, 'utf8'))).toEqual({
      code: 0,
      profiles: [option('apparmor')],
    })
    const broken = readFileSync(apparmorFile, 'utf8').replace('pivot_root,', 'pivot,')
    expect(parseAppArmor(broken).code).not.toBe(0)
  })
})
