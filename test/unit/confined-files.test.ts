import { execFileSync } from 'node:child_process'
import { mkdir, mkdtemp, open, rm, symlink, writeFile } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { afterEach, beforeEach, describe, expect, it } from 'vitest'
import { PathRefused } from '../../services/agent-runner/files/confined.ts'
import { MAX_FILE_BYTES, readText } from '../../services/agent-runner/files/text-file.ts'
import { startSwapper } from '../support/swapper.ts'

let top: string
let root: string

beforeEach(async () => {
  top = await mkdtemp(join(tmpdir(), 'astra-confined-'))
  root = join(top, 'root')
  await mkdir(join(root, 'src'), { recursive: true })
  await writeFile(join(root, 'src/a.ts'), 'const a = 1\n')
  await writeFile(join(top, 'outside.txt'), 'outside')
})

afterEach(() => rm(top, { recursive: true, force: true }))

describe('reading a file of the project', () => {
  it.each([
    '../outside.txt',
    'src/../../outside.txt',
    '/etc/passwd',
    './src/a.ts',
    'src//a.ts',
    'a\0b',
    '',
    'src\\a.ts',
  ])('refuses the path %j', async (path) => {
    await expect(readText(root, path)).rejects.toThrow(PathRefused)
  })

  it.each([
    '.git/config',
    'src/.GIT/config',
    '.env',
    '.env.local',
    'deploy/id_rsa',
    'tls/server.pem',
    '.npmrc',
    '.ENV',
    '.envrc',
    '.envs/local/django',
    '.aws/credentials',
    '.ssh/known_hosts',
    'credentials.yml',
    'certs/SERVER.KEY',
    'deploy.p12',
  ])('refuses %s, which may hold secrets or is not part of the project', async (path) => {
    await mkdir(join(root, path, '..'), { recursive: true })
    await writeFile(join(root, path), 'secret')
    await expect(readText(root, path)).rejects.toThrow(PathRefused)
  })

  it('refuses links, to a file and in a folder of the path', async () => {
    await symlink(join(top, 'outside.txt'), join(root, 'link.txt'))
    await symlink(top, join(root, 'folder'))
    await expect(readText(root, 'link.txt')).rejects.toThrow(/leads through a link/)
    await expect(readText(root, 'folder/outside.txt')).rejects.toThrow(PathRefused)
  })

  it('refuses a folder, a FIFO, a binary, other encodings and a file that is too large', async () => {
    execFileSync('mkfifo', [join(root, 'fifo')])
    await writeFile(join(root, 'binary'), Buffer.from([1, 0, 2]))
    await writeFile(join(root, 'latin1'), Buffer.from([0x63, 0x61, 0x66, 0xe9]))
    await writeFile(join(root, 'large'), 'x'.repeat(MAX_FILE_BYTES + 1))
    await expect(readText(root, 'src')).rejects.toThrow(/not a regular file/)
    await expect(readText(root, 'fifo')).rejects.toThrow(/not a regular file/)
    await expect(readText(root, 'binary')).rejects.toThrow(/binary/)
    await expect(readText(root, 'latin1')).rejects.toThrow(/not UTF-8/)
    await expect(readText(root, 'large')).rejects.toThrow(/at most/)
    await expect(readText(root, 'missing.ts')).rejects.toThrow(/there is no file missing.ts/)
  })

  it('reads no more than the cap of a file that grows while it is read', async () => {
    const growing = await open(join(root, 'growing'), 'w')
    await growing.write('x'.repeat(MAX_FILE_BYTES))
    const reading = Array.from({ length: 20 }, async () => readText(root, 'growing'))
    await growing.write('x'.repeat(MAX_FILE_BYTES))
    await growing.close()
    for (const result of await Promise.allSettled(reading)) {
      if (result.status === 'rejected') expect(result.reason.message).toMatch(/at most/)
      else expect(result.value.length).toBeLessThanOrEqual(MAX_FILE_BYTES)
    }
    await expect(readText(root, 'growing')).rejects.toThrow(/at most/)
  })

  it('reads no file outside in 40,000 tries while a folder is swapped for a link', async () => {
    await writeFile(join(top, 'a.ts'), 'outside')
    const stop = await startSwapper(join(root, 'src'), top)
    const seen = new Map<string, number>()
    for (let i = 0; i < 2_000; i += 1) {
      const reads = Array.from({ length: 20 }, () =>
        readText(root, 'src/a.ts').catch((error) => error.constructor.name),
      )
      for (const each of await Promise.all(reads)) seen.set(each, (seen.get(each) ?? 0) + 1)
    }
    expect((await stop()).swaps).toBeGreaterThan(1_000)
    expect([...seen.keys()].sort()).toEqual(['PathRefused', 'const a = 1\n'])
  })
})
