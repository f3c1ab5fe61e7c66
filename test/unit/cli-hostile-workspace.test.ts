import { type ChildProcess, execFileSync, spawn } from 'node:child_process'
import { once } from 'node:events'
import {
  chmodSync,
  copyFileSync,
  existsSync,
  mkdirSync,
  mkdtempSync,
  readdirSync,
  readFileSync,
  realpathSync,
  rmSync,
  symlinkSync,
  writeFileSync,
} from 'node:fs'
import { tmpdir } from 'node:os'
import { dirname, join } from 'node:path'
import { afterEach, beforeEach, describe, expect, it } from 'vitest'
import { applyRun } from '../../services/cli/patch/apply-run.ts'
import { copyFiles } from '../../services/cli/snapshot/copy-files.ts'
import { takeSnapshot } from '../../services/cli/snapshot/snapshot.ts'
import { sha256 } from '../../shared/contracts/ids.ts'
import { runFiles, savePatch } from '../../shared/run-files.ts'
import { readManifest } from '../../shared/workspace.ts'
import { sampleView } from '../support/run-view.ts'
import { startSwapper } from '../support/swapper.ts'

let folder: string
let workspace: string
let home: string
const realHome = process.env.HOME

beforeEach(() => {
  folder = realpathSync(mkdtempSync(join(tmpdir(), 'astra-hostile-')))
  workspace = join(folder, 'person/code/workspace')
  home = join(folder, 'astra')
  process.env.HOME = join(folder, 'person')
  write({ 'a.js': 'a' })
  mkdirSync(home)
})
afterEach(() => {
  process.env.HOME = realHome
  rmSync(folder, { recursive: true, force: true })
})

function write(files: Record<string, string>, root = workspace): void {
  for (const [path, text] of Object.entries(files)) {
    mkdirSync(dirname(join(root, path)), { recursive: true })
    writeFileSync(join(root, path), text)
  }
}

async function snapshot() {
  const { leftOut } = await takeSnapshot({ home, runId: 'run-a', workspace })
  const { files, links } = await readManifest(runFiles(home, 'run-a'))
  return { leftOut, links, paths: files.map((file) => file.path) }
}

const venv = { 'pyvenv.cfg': 'home = /usr/bin\n', 'bin/python': '' }
const refused = 'link to a place that is no dependency folder'

describe('a link in the place of a dependency folder', () => {
  it.each([
    ['the home of the person', () => join(folder, 'person')],
    ['a folder above that home', () => folder],
    ['the root of the system', () => '/'],
    ['a folder of the home', () => join(folder, 'person/.ssh')],
    ['a folder above the workspace', () => join(folder, 'person/code')],
    ['the workspace', () => workspace],
    ['the data of this program', () => home],
    ['a part of that data', () => join(home, 'keys')],
    ['any other folder', () => join(folder, 'other')],
  ])('is left out and named when it leads to %s', async (_, target) => {
    // Nothing is spared that would make the target look like packages.
    for (const place of [target(), home, join(folder, 'other')]) {
      if (place !== '/') mkdirSync(place, { recursive: true })
    }
    if (!['/', join(folder, 'person/.ssh'), join(folder, 'other')].includes(target())) {
      write(venv, target())
    }
    for (const name of ['node_modules', '.venv', 'sub/venv']) {
      mkdirSync(dirname(join(workspace, name)), { recursive: true })
      symlinkSync(target(), join(workspace, name))
    }
    const { leftOut, links } = await snapshot()
    expect(links).toEqual([])
    expect(leftOut).toEqual(
      ['.venv', 'node_modules', 'sub/venv'].map((path) => ({ path, why: refused })),
    )
  })

  it('is left out when the home, or a folder above it, is itself called node_modules', async () => {
    for (const [name, place] of Object.entries({
      HOME: 'node_modules',
      above: 'up/node_modules',
    })) {
      mkdirSync(join(folder, place, 'person'), { recursive: true })
      process.env.HOME = join(folder, name === 'HOME' ? place : `${place}/person`)
      rmSync(join(workspace, 'node_modules'), { force: true })
      symlinkSync(join(folder, place), join(workspace, 'node_modules'))
      expect((await snapshot()).leftOut).toEqual([{ path: 'node_modules', why: refused }])
      rmSync(runFiles(home, 'run-a').dir, { recursive: true })
    }
  })

  it('is taken when it leads to packages or to a real virtual environment', async () => {
    write({ 'shared/node_modules/x/index.js': '' }, folder)
    write(venv, join(folder, 'envs/project'))
    symlinkSync(join(folder, 'shared/node_modules'), join(workspace, 'node_modules'))
    symlinkSync(join(folder, 'envs/project'), join(workspace, '.venv'))
    const { leftOut, links } = await snapshot()
    expect(leftOut).toEqual([])
    expect(links).toEqual([
      { path: '.venv', target: join(folder, 'envs/project') },
      { path: 'node_modules', target: join(folder, 'shared/node_modules') },
    ])
  })

  it('is an ordinary link when it leads nowhere or to a file', async () => {
    symlinkSync('nowhere', join(workspace, 'node_modules'))
    symlinkSync('a.js', join(workspace, 'venv'))
    const { leftOut, links } = await snapshot()
    expect(links).toEqual([])
    expect(leftOut.map((each) => each.why)).toEqual(['link', 'link'])
  })

  it('brings nothing of what real packages link to into the manifest', async () => {
    mkdirSync(join(workspace, 'node_modules'))
    symlinkSync(join(folder, 'person'), join(workspace, 'node_modules/home'))
    const { links, paths } = await snapshot()
    expect(links).toEqual([{ path: 'node_modules', target: join(workspace, 'node_modules') }])
    expect(paths).toEqual(['a.js'])
  })
})

describe('entries that are no plain files', () => {
  it('are left out and named: FIFO, socket, device, a name that is not UTF-8', async () => {
    execFileSync('mkfifo', [join(workspace, 'fifo')])
    const socket = await listening(join(workspace, 'socket'))
    const device = process.getuid?.() === 0
    if (device) execFileSync('mknod', [join(workspace, 'null'), 'c', '1', '3'])
    writeFileSync(Buffer.concat([Buffer.from(`${workspace}/b`), Buffer.from([0xff])]), '')
    const { leftOut, paths } = await snapshot()
    socket.kill('SIGKILL')
    expect(paths).toEqual(['a.js'])
    const why = 'not a regular file'
    expect(leftOut).toEqual([
      { path: 'b\uFFFD', why: 'name is not UTF-8' },
      { path: 'fifo', why },
      ...(device ? [{ path: 'null', why }] : []),
      { path: 'socket', why },
    ])
  })

  it('hang and mislead nobody in the places of files that say how to read it', async () => {
    write({ '.gitignore': '', '.git/HEAD': '' })
    write({ 'secrets.txt': 'a.js' }, folder)
    for (const name of ['.astra.json', '.git/config', '.git/index', 'sub/.gitignore']) {
      mkdirSync(dirname(join(workspace, name)), { recursive: true })
      execFileSync('mkfifo', [join(workspace, name)])
    }
    rmSync(join(workspace, '.gitignore'))
    symlinkSync(join(folder, 'secrets.txt'), join(workspace, '.gitignore'))
    expect((await snapshot()).paths).toEqual(['a.js'])
  })

  it('are not taken when they are what a killed apply left behind', async () => {
    write({ 'a.js.0123abcd.astra-tmp': 'half', 'b.astra-tmp': '' })
    expect((await snapshot()).paths).toEqual(['a.js', 'b.astra-tmp'])
  })

  it('are left out when their path is too long for a copy, however deep the tree is', async () => {
    const script = `
      const fs = require('node:fs')
      process.chdir(process.argv[1])
      for (let i = 0; i < 300; i += 1) { fs.mkdirSync('deep-folder-name'); process.chdir('deep-folder-name') }
      fs.writeFileSync('x.js', '')`
    execFileSync(process.execPath, ['-e', script, workspace])
    const { leftOut, paths } = await snapshot()
    expect(paths).toEqual(['a.js'])
    expect(leftOut).toEqual([{ path: expect.any(String), why: 'path is too long' }])
  })
})

/** A socket file; its process ends with the test. */
async function listening(path: string): Promise<ChildProcess> {
  const script = "require('node:net').createServer().listen(process.argv[1], () => console.log(1))"
  const child = spawn(process.execPath, ['-e', script, path], {
    stdio: ['ignore', 'pipe', 'inherit'],
  })
  await once(child.stdout, 'data')
  return child
}

/** Root can read anything and is known: what is asked is what another user sees. */
function snapshotAs(uid: number, env: Record<string, string>) {
  for (const [path, mode] of [
    [folder, 0o755],
    [home, 0o777],
  ] as const) {
    chmodSync(path, mode)
  }
  const script = `
    import { takeSnapshot } from ${JSON.stringify(snapshotModule)}
    if (process.getuid() === 0) process.setgroups([]), process.setgid(${uid}), process.setuid(${uid})
    const [home, workspace] = process.argv.slice(1)
    console.log(JSON.stringify(await takeSnapshot({ home, runId: 'run-a', workspace })))`
  const node = ['--input-type=module', '-e', script, home, workspace]
  return JSON.parse(execFileSync(process.execPath, node, { encoding: 'utf8', env }))
}

describe('a user of no special rights', () => {
  it('gets a snapshot without what it cannot read, files and folders, which are named', () => {
    write({ 'b.js': '', 'sub/c.js': '' })
    chmodSync(join(workspace, 'b.js'), 0)
    chmodSync(join(workspace, 'sub'), 0)
    const { files, leftOut } = snapshotAs(65534, { HOME: folder })
    chmodSync(join(workspace, 'sub'), 0o755)
    expect(files).toBe(1)
    expect(leftOut).toEqual([
      { path: 'sub', why: 'not readable' },
      { path: 'b.js', why: 'not readable' },
    ])
  })

  it('gets a snapshot when the system does not know it, nor a home of it', () => {
    write({ '.git/HEAD': '', 'node_modules/x/index.js': '' })
    expect(snapshotAs(54321, {})).toMatchObject({ files: 1, leftOut: [] })
  })
})

const snapshotModule = join(import.meta.dirname, '../../services/cli/snapshot/snapshot.ts')

describe('files that are replaced between listing and reading', () => {
  const limits = { fileBytes: 1000, totalBytes: 10_000, files: 10 }

  it('are left out and named, whatever they became', async () => {
    write({ 'secret.txt': 'outside' }, folder)
    write({ 'in/secret.txt': '', 'd/x': '' })
    rmSync(join(workspace, 'in'), { recursive: true })
    symlinkSync(folder, join(workspace, 'in'))
    symlinkSync(join(folder, 'secret.txt'), join(workspace, 'link'))
    execFileSync('mkfifo', [join(workspace, 'fifo')])
    const listed = ['a.js', 'd', 'fifo', 'gone', 'in/secret.txt', 'link', 'a.js/x']
    const base = join(folder, 'base')
    const { files, leftOut } = await copyFiles(workspace, listed, base, limits)
    expect(files.map((file) => file.path)).toEqual(['a.js'])
    expect(leftOut).toEqual(
      listed.slice(1).map((path) => ({ path, why: 'changed while it was read' })),
    )
    expect(readdirSync(base)).toEqual(['a.js'])
  })

  it('bring nothing from outside while a folder is swapped for a link', async () => {
    write({ 'src/a.js': 'inside' })
    write({ 'a.js': 'outside' }, join(folder, 'outside'))
    const stop = await startSwapper(join(workspace, 'src'), join(folder, 'outside'))
    const seen = new Set<string>()
    for (let i = 0; i < 3_000; i += 1) {
      const base = join(folder, `base-${i}`)
      const { files } = await copyFiles(workspace, ['src/a.js'], base, limits)
      seen.add(files[0]?.sha256 ?? 'left out')
    }
    await stop()
    expect([...seen].sort()).toEqual([sha256('inside'), 'left out'].sort())
  })
})

describe('a repository whose configuration runs programs', () => {
  it('runs none of them from snapshot to apply, and no git either', async () => {
    const ran = join(folder, 'ran')
    const trap = join(folder, 'trap.sh')
    writeFileSync(trap, `#!/bin/sh\necho "$0 $*" >> ${ran}\ncat\n`, { mode: 0o755 })
    plantRepository(trap)
    // The trap works: git itself falls into it.
    execFileSync('git', ['status', '--porcelain'], { cwd: workspace, stdio: 'ignore' })
    expect(readFileSync(ran, 'utf8')).not.toBe('')
    rmSync(ran)

    const bin = join(folder, 'bin')
    mkdirSync(bin)
    for (const name of ['git', 'sh', 'ssh']) copyFileSync(trap, join(bin, name))
    const before = process.env.PATH
    process.env.PATH = `${bin}:${before}`
    try {
      await snapshot()
      const files = [{ path: 'a.js', before: sha256('a'), after: 'b' }]
      const hash = await savePatch(runFiles(home, 'run-a'), { files })
      const view = sampleView({ status: 'fixed', patch_hash: hash })
      expect(await applyRun(home, view, workspace, 'refuse')).toMatchObject({ applied: true })
    } finally {
      process.env.PATH = before
    }
    expect(readFileSync(join(workspace, 'a.js'), 'utf8')).toBe('b')
    expect(existsSync(ran)).toBe(false)
  })
})

function plantRepository(trap: string): void {
  execFileSync('git', ['init', '-q'], { cwd: workspace })
  const config = [
    '[core]\n\tfsmonitor = TRAP\n\thooksPath = hooks\n\tpager = TRAP\n\teditor = TRAP\n\tsshCommand = TRAP',
    '[include]\n\tpath = more',
    '[diff]\n\texternal = TRAP',
  ]
  const more = '[filter "trap"]\n\tclean = TRAP\n\tsmudge = TRAP\n\trequired = true\n'
  const planted = (text: string) => text.replaceAll('TRAP', trap)
  write({ '.git/config': planted(config.join('\n')), '.git/more': planted(more) })
  write({ '.gitattributes': '* filter=trap diff=trap\n' })
  for (const hook of ['post-checkout', 'post-index-change', 'pre-commit', 'post-commit']) {
    write({ [`.git/hooks/${hook}`]: '', [`hooks/${hook}`]: '' })
    copyFileSync(trap, join(workspace, '.git/hooks', hook))
    copyFileSync(trap, join(workspace, 'hooks', hook))
  }
}
