#!/usr/bin/env node
// Plain JavaScript, so that any Node can start it: it finds Node 24 and hands over to the CLI.
import { spawn } from 'node:child_process'
import { existsSync, realpathSync } from 'node:fs'
import { dirname, join, resolve } from 'node:path'

const root = resolve(dirname(realpathSync(process.argv[1])), '..')
const cli = join(root, 'services', 'cli')
const isClone = existsSync(join(cli, 'main.ts'))
const bundled = join(root, 'node_modules', '.bin', 'node')
const node = isClone && existsSync(bundled) ? bundled : isFit() ? process.execPath : null

if (!node) {
  const sqlite = process.versions.sqlite ? ` with SQLite ${process.versions.sqlite}` : ''
  process.stderr.write(
    `astra needs Node 24.15 or newer (for SQLite 3.51.3) and found ${process.version}${sqlite}.\n` +
      (isClone
        ? `Run \`npm ci\` in ${root}: it brings a Node of its own.\n`
        : 'Install it from https://nodejs.org or with `nvm install 24`, or borrow it for one command:\n' +
          `  ${['npx -y -p node@24 astra', ...process.argv.slice(2)].join(' ')}\n`),
  )
  process.exit(1)
}

const main = join(cli, isClone ? 'main.ts' : 'main.js')
const child = spawn(node, [main, ...process.argv.slice(2)], { stdio: 'inherit' })
for (const signal of ['SIGINT', 'SIGTERM', 'SIGHUP']) {
  process.on(signal, () => child.kill(signal))
}
child.on('exit', (code, signal) => {
  if (!signal) process.exit(code ?? 1)
  process.removeAllListeners(signal)
  process.kill(process.pid, signal)
})

/** Earlier Nodes have no type stripping that we rely on, or an SQLite that can lose data. */
function isFit() {
  const node = Number(process.versions.node.split('.')[0])
  const [major = 0, minor = 0, patch = 0] = (process.versions.sqlite ?? '').split('.').map(Number)
  return node >= 24 && (major * 1000 + minor) * 1000 + patch >= 3_051_003
}
