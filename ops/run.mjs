// Starts FILE under the Node of the lock file. Plain JavaScript for Node 20: this is what runs first
// on a bare machine, before `npm ci`, and npm's own `node` is then still the machine's.
import { spawn, spawnSync } from 'node:child_process'
import { createHash } from 'node:crypto'
import { existsSync, readFileSync, writeFileSync } from 'node:fs'
import { join, resolve } from 'node:path'
import { ensureSystemPackages, ensureTestPrograms } from './system-packages.mjs'

const root = resolve(import.meta.dirname, '..')
const [file, ...args] = process.argv.slice(2)
if (!file) fail('usage: node ops/run.mjs FILE [ARGS...]')

installDependencies()
ensureSystemPackages()
if (process.env.CI === 'true' && file === 'ops/check.ts') ensureTestPrograms()

const node = join(root, 'node_modules', '.bin', 'node')
// A bin of an installed package belongs to the clone; our own programs belong to where the user stood.
const cwd = file.startsWith('node_modules/') ? root : (process.env.INIT_CWD ?? process.cwd())
const child = spawn(node, [join(root, file), ...args], { stdio: 'inherit', cwd })
for (const signal of ['SIGINT', 'SIGTERM', 'SIGHUP']) {
  process.on(signal, () => child.kill(signal))
}
child.on('error', (error) => fail(`cannot start ${node}: ${error.message}`))
child.on('exit', (code, signal) => {
  if (!signal) process.exit(code ?? 1)
  process.removeAllListeners(signal)
  process.kill(process.pid, signal)
})

/** `npm ci` when node_modules does not come from this lock file. Its output goes to stderr. */
function installDependencies() {
  const stamp = join(root, 'node_modules', '.astra-lock-sha256')
  const wanted = createHash('sha256')
    .update(readFileSync(join(root, 'package-lock.json')))
    .digest('hex')
  if (existsSync(stamp) && readFileSync(stamp, 'utf8') === wanted) return
  process.stderr.write(
    'Installing the packages of package-lock.json (once, about half a minute) ...\n',
  )
  const result = spawnSync('npm', ['ci', '--no-audit', '--no-fund', '--loglevel=error'], {
    cwd: root,
    stdio: ['ignore', 2, 2],
    // npm 10 does not know allowScripts: this keeps onnxruntime-node from downloading GPU files.
    env: { ...process.env, ONNXRUNTIME_NODE_INSTALL: 'skip' },
  })
  if (result.error) fail(`cannot run npm: ${result.error.message}`)
  if (result.status !== 0) fail('npm ci failed; the lines above say why')
  writeFileSync(stamp, wanted)
}

function fail(message) {
  process.stderr.write(`${message}\n`)
  process.exit(1)
}
