import { existsSync, readFileSync } from 'node:fs'
import { mkdtemp, rm } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { afterEach, beforeEach, describe, expect, it } from 'vitest'
import {
  isAbandoned,
  killAbandoned,
  killTree,
  MARK_VARIABLE,
  newMark,
  ownerOf,
} from '../../services/test-runner/run/process-tree.ts'
import { type CommandRequest, runCommand } from '../../services/test-runner/run/run-command.ts'

const hasProc = existsSync('/proc/self/environ')

let home = ''

beforeEach(async () => {
  home = await mkdtemp(join(tmpdir(), 'astra-home-'))
})
afterEach(() => rm(home, { recursive: true, force: true }))

/** By a shell, which begins at once on a busy machine too: for what has a limit of time. */
const shell = (script: string): Partial<CommandRequest> => ({
  argv: ['/bin/sh', '-c', script],
  timeoutMs: 2000,
})

function request(code: string, changes: Partial<CommandRequest> = {}): CommandRequest {
  const mark = newMark(home)
  return {
    argv: [process.execPath, '-e', code],
    cwd: home,
    env: { PATH: process.env.PATH ?? '', [MARK_VARIABLE]: mark },
    stop: (pid) => killTree(pid, mark),
    timeoutMs: 50_000,
    maxOutputBytes: 100_000,
    signal: new AbortController().signal,
    ...changes,
  }
}

/** False for a process that is gone and for a zombie that nobody waited for yet. */
function isAlive(pid: number): boolean {
  if (!(pid > 0)) throw new Error('the command has not told its process id')
  if (!existsSync(`/proc/${pid}/stat`)) return false
  return !/\) [ZX] /.test(readFileSync(`/proc/${pid}/stat`, 'latin1'))
}

/** Starts a child in a session of its own that would live for an hour, then goes on. */
const daemon = `
  const child = require('node:child_process').spawn('sleep', ['3600'], {
    detached: true, stdio: ['ignore', 1, 2],
  })
  child.unref()
  console.log(child.pid)
`

describe('runCommand', () => {
  it('gives the exit code and what came on stdout and stderr', async () => {
    const result = await runCommand(
      request('process.stdout.write("out"); process.stderr.write("err"); process.exitCode = 3'),
    )
    expect(result).toMatchObject({ end: 'exited', exitCode: 3, stdout: 'out', stderr: 'err' })
    expect([...result.output].sort().join('')).toBe('eorrtu')
  })

  it('gives the command its own environment and nothing else', async () => {
    const result = await runCommand(
      request('console.log(JSON.stringify(process.env))', { env: { A: '1' } }),
    )
    expect(JSON.parse(result.stdout)).toEqual({ A: '1' })
  })

  it('stops a command that never ends', async () => {
    const result = await runCommand(request('', shell('echo $$; exec sleep 3600')))
    expect(result).toMatchObject({ end: 'timed_out', exitCode: null })
    expect(isAlive(Number(result.stdout))).toBe(false)
  })

  it('stops a command that prints 100 MB and keeps no more than the limit', async () => {
    const result = await runCommand(
      request(`
        const chunk = 'x'.repeat(1_000_000)
        for (let i = 0; i < 100; i += 1) require('node:fs').writeSync(1, chunk)
        require('node:fs').writeFileSync('finished', '')
      `),
    )
    expect(result.end).toBe('output_limit')
    expect(result.output).toHaveLength(100_000)
    expect(existsSync(join(home, 'finished'))).toBe(false)
  })

  it('takes output that is not UTF-8 as it is', async () => {
    const result = await runCommand(
      request('process.stdout.write(Buffer.from([0x66, 0xff, 0xfe, 0x6f]))'),
    )
    expect(result).toMatchObject({ end: 'exited', stdout: 'f\ufffd\ufffdo' })
  })

  it.skipIf(!hasProc)('ends a daemon that left the process group', async () => {
    const result = await runCommand(request(daemon))
    expect(result).toMatchObject({ end: 'exited', exitCode: 0 })
    expect(isAlive(Number(result.stdout))).toBe(false)
  })

  it.skipIf(!hasProc)('ends a child that threw its environment away', async () => {
    const result = await runCommand(request('', shell('env -i setsid sleep 3600 & echo $!; wait')))
    expect(result.end).toBe('timed_out')
    expect(isAlive(Number(result.stdout))).toBe(false)
  })

  it('throws the reason of the signal that aborts it and leaves nothing running', async () => {
    const abort = new AbortController()
    const running = runCommand(
      request(
        'require("node:fs").writeFileSync("pid", String(process.pid)); console.log(1); setInterval(() => {}, 1000)',
        { signal: abort.signal },
      ),
    )
    const pidFile = join(home, 'pid')
    await expect.poll(() => existsSync(pidFile) && readFileSync(pidFile, 'utf8')).toMatch(/^\d+$/)
    abort.abort(new Error('shutting down'))
    await expect(running).rejects.toThrow('shutting down')
    expect(isAlive(Number(readFileSync(pidFile, 'utf8')))).toBe(false)
  })

  it('throws when the program cannot be started', async () => {
    await expect(runCommand(request('', { cwd: join(home, 'missing') }))).rejects.toThrow('ENOENT')
  })
})

describe('marks of abandoned processes', () => {
  it('are those of a test-runner that is gone, of the same installation', () => {
    const gone = `${ownerOf(home, process.pid).replace(/-\d+$/, '-1')}-0123456789abcdef`
    expect(isAbandoned(gone, home)).toBe(true)
    expect(isAbandoned(gone, '/another/home')).toBe(false)
    expect(isAbandoned(newMark(home), home)).toBe(false)
    expect(isAbandoned('', home)).toBe(false)
  })

  it.skipIf(!hasProc)('do not cost a living test-runner its tests', async () => {
    const running = runCommand(request('setTimeout(() => console.log("done"), 700)'))
    expect(await killAbandoned(home)).toBe(0)
    expect(await running).toMatchObject({ end: 'exited', stdout: 'done\n' })
  })
})
