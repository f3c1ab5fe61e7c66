import { chmod, mkdir, mkdtemp, rm, writeFile } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { afterAll, beforeAll, describe, expect, it } from 'vitest'
import { readCompose, serviceOf } from '../support/compose.ts'
import {
  canMakeContainers,
  type Network,
  startContainer,
  startNetwork,
} from '../support/container.ts'
import {
  canCompileSeccomp,
  compileSeccomp,
  type SeccompProfile,
  seccompProfile,
} from '../support/seccomp.ts'

const canTry = canMakeContainers && canCompileSeccomp

const ours = seccompProfile()
/** The last rule is what the profile has beyond Docker's. */
const beyond = ours.syscalls.at(-1)?.names ?? []
const without = (names: readonly string[]): SeccompProfile => ({
  ...ours,
  syscalls: ours.syscalls.map((rule) =>
    rule === ours.syscalls.at(-1)
      ? { ...rule, names: rule.names.filter((name) => !names.includes(name)) }
      : rule,
  ),
})
/** Docker lets clone make processes and threads, but no namespaces. */
const CLONE_WITHOUT_NAMESPACES = {
  names: ['clone'],
  action: 'SCMP_ACT_ALLOW',
  args: [{ index: 0, value: 0x7e02_0000, valueTwo: 0, op: 'SCMP_CMP_MASKED_EQ' }],
}
const withoutNamespaces = (names: readonly string[]): SeccompProfile => {
  const { syscalls, ...rest } = without(names)
  return { ...rest, syscalls: [...syscalls, CLONE_WITHOUT_NAMESPACES] }
}
const dockersDefault = withoutNamespaces(beyond)

let folder: string
let network: Network

/** Starts the test-runner's container with the sandbox's own check: what that says, '' for all is well. */
async function problem(profile: SeccompProfile, mounts: readonly string[] = []): Promise<string> {
  const service = serviceOf(readCompose(), 'test-runner')
  const seccomp = await compileSeccomp(profile, join(folder, 'filter'))
  const container = await startContainer(
    { ...service, command: ['node', 'services/test-runner/check-sandbox.ts'] },
    { name: 'test-runner', folder, network: network.pid, seccomp, mounts },
  )
  expect(await container.ended, container.output()).toBe(0)
  return container.output()
}

describe.skipIf(!canTry)(
  "the test-runner's sandbox in its container (as root, with python3-seccomp)",
  () => {
    beforeAll(async () => {
      folder = await mkdtemp(join(tmpdir(), 'astra-seccomp-'))
      await chmod(folder, 0o755)
      await mkdir(join(folder, 'secrets'))
      await writeFile(join(folder, 'secrets', 'redis_password'), 'a-password')
      network = await startNetwork()
    })
    afterAll(async () => {
      await network.stop()
      await rm(folder, { recursive: true })
    })

    it('can be made under our profile, by an ordinary user without capabilities', async () => {
      expect(await problem(ours)).toBe('')
    })

    it("cannot be made under Docker's default profile", async () => {
      expect(await problem(dockersDefault)).toMatch(/No permissions to create new namespace/)
    })

    it('needs each of the calls that our profile has beyond it', async () => {
      expect(beyond).toEqual(['clone', 'mount', 'pivot_root', 'sethostname', 'umount2', 'unshare'])
      for (const name of beyond) {
        const less = name === 'clone' ? withoutNamespaces([name]) : without([name])
        expect(await problem(less), name).toMatch(/bwrap/)
      }
    }, 180_000)

    it('cannot be made where Docker covers parts of /proc: hence systempaths=unconfined', async () => {
      const covered = ['--ro-bind', '/dev/null', '/proc/timer_list']
      expect(await problem(ours, covered)).toMatch(/Can't mount proc/)
      const readOnly = ['--ro-bind', '/proc/sys', '/proc/sys']
      expect(await problem(ours, readOnly)).toMatch(/Can't mount proc/)
    })
  },
)
