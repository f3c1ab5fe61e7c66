import { spawn } from 'node:child_process'
import { once } from 'node:events'
import { readFile } from 'node:fs/promises'
import { join } from 'node:path'
import { productRoot } from '../../shared/config.ts'

/** Ten times what it takes where nothing else runs. */
const DEMO_MS = 240_000

export type KeptDemo = {
  /** ASTRA_HOME of the demo. */
  home: string
  /** The command that it ended with, which shows its runs. */
  command: string
}

export type OpenDashboard = { url: string; token: string; close(): Promise<void> }

/** Runs `npm run demo -- --keep` as a person would in the clone. It stays in `folder`. */
export async function runKeptDemo(folder: string): Promise<KeptDemo> {
  const args = ['run', '--silent', 'demo', '--', '--keep']
  const child = spawn('npm', args, {
    ...ofPerson(folder),
    stdio: ['ignore', 'pipe', 'inherit'],
    timeout: DEMO_MS,
  })
  let said = ''
  child.stdout.setEncoding('utf8').on('data', (chunk: string) => {
    said += chunk
  })
  const [code] = await once(child, 'close')
  const command = /^See them: (.+)$/m.exec(said)?.[1]
  const home = /^Everything stays in (.+)$/m.exec(said)?.[1]
  if (code !== 0 || !command || !home) throw new Error(`the demo ended with ${code}:\n${said}`)
  return { home: join(home, 'home'), command }
}

/** Types the command that the demo ended with, at a free port, and waits until it listens. */
export async function openDashboard(folder: string, demo: KeptDemo): Promise<OpenDashboard> {
  const child = spawn('sh', ['-c', `${demo.command} --port 0 --json`], {
    ...ofPerson(folder),
    stdio: ['ignore', 'pipe', 'inherit'],
    // As at a terminal, where Ctrl-C reaches all of them.
    detached: true,
  })
  const closed = once(child, 'close')
  const url = await new Promise<string>((resolve, reject) => {
    let said = ''
    child.stdout.setEncoding('utf8').on('data', (chunk: string) => {
      said += chunk
      const found = /"url": "([^"]+)"/.exec(said)?.[1]
      if (found !== undefined) resolve(found)
    })
    child.once('close', (code) => reject(new Error(`it ended with ${code}:\n${said}`)))
  })
  const token = (await readFile(join(demo.home, 'dashboard', 'token'), 'utf8')).trim()
  return {
    url,
    token,
    async close() {
      if (child.pid) process.kill(-child.pid, 'SIGINT')
      await closed
    },
  }
}

/** In the clone, with none of the tester's own settings and data. */
function ofPerson(folder: string) {
  const own = Object.entries(process.env).filter(
    ([name]) => !/^(ASTRA|OPENAI|REDIS|OTEL|VITEST|NODE_ENV|npm_)/.test(name),
  )
  const dirs = { TMPDIR: folder, XDG_DATA_HOME: folder }
  // What stands in a developer's .env must not reach a test.
  const env = { ...Object.fromEntries(own), ...dirs, OPENAI_API_KEY: '', REDIS_URL: '' }
  return { cwd: productRoot, env }
}
