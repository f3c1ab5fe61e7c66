#!/usr/bin/env node
// Plain JavaScript, so that any Node can start it: it finds Node 24 and hands over to the CLI.
import { spawn } from 'node:child_process'
import { existsSync, realpathSync } from 'node:fs'
import { dirname, join, resolve } from 'node:path'

const root = resolve(dirname(realpathSync(process.argv[1])), '..')
const bundled = join(root, 'node_modules', '.bin', 'node')
const major = Number(process.versions.node.split('.')[0])
const node = existsSync(bundled) ? bundled : major >= 24 ? process.execPath : null

if (!node) {
  process.stderr.write(
    `astra needs Node 24 or newer and found ${process.version}.\n` +
      `Run \`npm ci\` in ${root}: it brings Node 24 of its own.\n`,
  )
  process.exit(1)
}

const child = spawn(node, [join(root, 'services/cli/main.ts'), ...process.argv.slice(2)], {
  stdio: 'inherit',
})
for (const signal of ['SIGINT', 'SIGTERM', 'SIGHUP']) {
  process.on(signal, () => child.kill(signal))
}
child.on('exit', (code, signal) => {
  if (!signal) process.exit(code ?? 1)
  process.removeAllListeners(signal)
  process.kill(process.pid, signal)
})
