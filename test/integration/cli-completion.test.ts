import { spawn } from 'node:child_process'
import { once } from 'node:events'
import {
  chmodSync,
  mkdirSync,
  mkdtempSync,
  readFileSync,
  realpathSync,
  rmSync,
  writeFileSync,
} from 'node:fs'
import { createServer } from 'node:net'
import { tmpdir } from 'node:os'
import { dirname, join, resolve } from 'node:path'
import { afterAll, beforeAll, describe, expect, it } from 'vitest'
import { shapeOf, withSubcommands } from '../../services/cli/completion/program-shape.ts'
import { createContext } from '../../services/cli/context.ts'
import { createProgram } from '../../services/cli/program.ts'
import { openSqliteBackend } from '../../services/memory-store/sqlite/sqlite-backend.ts'
import { productRoot, redisSocketPath } from '../../shared/config.ts'
import { runsIndexKey, runViewKey } from '../../shared/contracts/run-view.ts'
import { rotateSigningKey } from '../../shared/keys/signing-key.ts'
import { connectOrFail } from '../../shared/queue/connection.ts'
import { runAstra } from '../support/cli.ts'
import { sampleRecord, seededVector } from '../support/memory.ts'
import { startRedis } from '../support/redis.ts'
import { sampleView } from '../support/run-view.ts'
import { onPath, openTerminal } from '../support/terminal.ts'

const main = join(productRoot, 'services/cli/main.ts')
const context = createContext({}, '/', new AbortController().signal)

let home: string
let memoryId: string
let keyId: string
let env: Record<string, string | undefined>

beforeAll(async () => {
  home = realpathSync(mkdtempSync(join(tmpdir(), 'astra-tab-')))
  const data = join(home, 'astra')
  mkdirSync(join(data, 'runs', 'run-first'), { recursive: true })
  mkdirSync(join(data, 'logs'))
  writeFileSync(join(data, 'logs', 'embedder-2.log'), '')
  mkdirSync(join(home, 'my project'))
  writeFileSync(join(home, 'fix.patch'), '')
  keyId = rotateSigningKey(data).keyId
  const backend = openSqliteBackend({ file: join(data, 'memory', 'memory.db'), dimensions: 8 })
  const record = sampleRecord({ repository_id: 'example.org/team/app' })
  memoryId = record.memory_id
  await backend.upsert(record, { symptom: seededVector(1, 8), fix: seededVector(2, 8) })
  await backend.close()
  mkdirSync(join(home, 'bin'))
  const program = join(home, 'bin', 'astra')
  writeFileSync(program, `#!/bin/sh\nexec '${process.execPath}' '${main}' "$@"\n`)
  chmodSync(program, 0o755)
  env = {
    PATH: `${dirname(program)}:${process.env.PATH}`,
    HOME: home,
    ASTRA_HOME: data,
    TERM: 'xterm',
    LC_ALL: 'C.UTF-8',
  }
})
afterAll(() => rmSync(home, { recursive: true, force: true }))

/** What a shell runs instead of a command that was completed and entered: it prints its words. */
const shells = {
  bash: {
    command: 'bash --norc --noprofile -i',
    setUp: [
      'astra() { if [ "$1" = __complete ]; then command astra "$@"; else',
      `local IFS='|'; echo "GO""T:$*:"; fi; }`,
      'eval "$(command astra completion bash)"',
    ],
  },
  zsh: {
    command: 'zsh -f -i',
    setUp: [
      'autoload -U compinit && compinit -u -D',
      'astra() { if [ "$1" = __complete ]; then command astra "$@"; else',
      `print -r -- "GO""T:\${(j:|:)@}:"; fi; }`,
      'eval "$(command astra completion zsh)"',
    ],
  },
  fish: {
    command: 'fish --no-config -i',
    setUp: [
      'function astra; if test "$argv[1]" = __complete; command astra $argv; else',
      `echo "GO""T:"(string join '|' -- $argv)":"; end; end`,
      'command astra completion fish | source',
    ],
  },
} as const

describe.each(Object.entries(shells))('in %s', (shell, { command, setUp }) => {
  const missing = ['script', shell].filter((program) => !onPath(program))
  const title =
    'the tabulator completes commands, options, choices, folders and what we are asked for'
  const reason = missing.length > 0 ? ` (no ${missing.join(', no ')})` : ''
  it.skipIf(reason !== '')(title + reason, async () => {
    const terminal = openTerminal(command, { cwd: home, env })
    terminal.type(`stty cols 200 rows 50\n${setUp.join('\n')}\necho REA"DY"\n`)
    await terminal.shows(/READY/)
    const cases: [typed: string, entered: string][] = [
      ['enq\t', 'enqueue'],
      ['mem\tsup\t', 'memory|supersede'],
      ['fix --pri\thi\t', 'fix|--priority|high'],
      ['help dash\t', 'help|dashboard'],
      ['fix my\t', 'fix|my project'],
      ['verify --pat\tfix\t', 'verify|--patch|fix.patch'],
      ['status run-f\t', 'status|run-first'],
      ['logs emb\t', 'logs|embedder-2'],
      [`memory show ${memoryId.slice(0, 4)}\t`, `memory|show|${memoryId}`],
      ['memory list --repository exa\t', 'memory|list|--repository|example.org/team/app'],
      [`keys distrust ${keyId.slice(0, 4)}\t`, `keys|distrust|${keyId}`],
    ]
    for (const [typed, entered] of cases) {
      terminal.type(`astra ${typed}`)
      terminal.type('\r')
      const got = await terminal.shows(/GOT:(.*?):\r?\n/)
      // Some end the name of a folder with a slash, and zsh joins an option and its value.
      expect(got.replace(/\/$/, '').replace(/(?<=--\w+)=/, '|'), typed).toBe(entered)
    }
    terminal.type('exit\r')
    await terminal.end()
  })
})

/** fish is told `-l follow` and `-s f`. */
function flagIn(shell: string, flag: string): string {
  if (shell !== 'fish') return flag
  return `-${flag.startsWith('--') ? 'l' : 's'} ${flag.replace(/^-+/, '')}`
}

describe('the scripts', () => {
  it.each(Object.keys(shells))('of %s knows every command, option and choice', async (shell) => {
    const { stdout } = await runAstra(['completion', shell], { home })
    const commands = withSubcommands(shapeOf(createProgram(context)))
    const words = commands.flatMap(({ path, options }) => [
      path.join(shell === 'zsh' ? '_' : ' '),
      ...options.flatMap(({ flags }) => flags).map((flag) => flagIn(shell, flag)),
    ])
    for (const word of [...words, 'prefetch', 'superseded', 'python']) {
      expect(stdout).toContain(word)
    }
  })

  it('give every value a source, or it is one that only a person can think of', () => {
    const free = new Set(
      withSubcommands(shapeOf(createProgram(context))).flatMap(({ path, options, args }) => [
        ...options
          .filter(({ value, sources }) => value !== null && sources.length === 0)
          .map(({ flags }) => flags.at(-1)),
        ...args
          .filter(({ sources }) => sources.length === 0)
          .map(({ name }) => `${path.join(' ')} <${name}>`),
      ]),
    )
    expect([...free].sort()).toEqual([
      '--agent-runners',
      '--budget',
      '--command',
      '--days',
      '--embedders',
      '--error-type',
      '--limit',
      '--lines',
      '--max-requests',
      '--max-seconds',
      '--max-tokens',
      '--max-tool-calls',
      '--name',
      '--offset',
      '--port',
      '--prompt',
      '--run-id',
      '--scenario',
      '--sessions',
      '--since',
      '--test-runners',
      '--top-k',
      'memory search <text>',
    ])
  })

  it('have fish take the same options for ones with a value everywhere', () => {
    const commands = withSubcommands(shapeOf(createProgram(context))).filter(
      ({ args }) => args.length > 0,
    )
    const flags = (valued: boolean) =>
      new Set(
        commands.flatMap(({ options }) =>
          options.filter(({ value }) => (value !== null) === valued).flatMap((each) => each.flags),
        ),
      )
    expect([...flags(true)].filter((flag) => flags(false).has(flag))).toEqual([])
  })
})

describe('what only an installation knows', () => {
  const ask = async (what: string, more: Record<string, string> = {}) => {
    const started = performance.now()
    const { code, stdout, stderr } = await runAstra(['__complete', what], { home, env: more })
    expect({ code, stderr }).toEqual({ code: 0, stderr: '' })
    return { lines: stdout.split('\n').filter(Boolean), ms: performance.now() - started }
  }

  it('are the runs of Redis with their state, without what a shell would take apart', async () => {
    const redis = await startRedis(redisSocketPath(join(home, 'astra'), {}))
    const client = connectOrFail(redis.address)
    const names = ['run-ok', 'run$(touch x)', 'run;x']
    for (const [at, run_id] of names.entries()) {
      const workspace = '/a\tb\u001b[2J'
      await client.set(runViewKey(run_id), JSON.stringify(sampleView({ run_id, workspace })))
      await client.zadd(runsIndexKey, at, run_id)
    }
    expect((await ask('runs')).lines).toEqual(['run-ok\tnot_fixed /a b [2J'])
    client.disconnect()
    await redis.stop()
  })

  it('is nothing, soon and in silence, where nothing answers', async () => {
    const deaf = createServer(() => {}).listen(0, '127.0.0.1')
    await once(deaf, 'listening')
    const address = deaf.address()
    const port = typeof address === 'object' ? address?.port : 0
    const nothing = join(home, 'nothing')
    for (const what of ['runs', 'memories', 'repositories', 'keys', 'services', 'x']) {
      const more = { ASTRA_HOME: nothing, REDIS_URL: `redis://127.0.0.1:${port}` }
      expect((await ask(what, more)).lines, what).toEqual([])
    }
    expect((await ask('runs', { ASTRA_HOME: nothing, REDIS_URL: 'no url' })).lines).toEqual([])
    deaf.close()
  })

  it('waits no longer than 0.3 s for a Redis that does not answer', async () => {
    const deaf = createServer(() => {}).listen(0, '127.0.0.1')
    await once(deaf, 'listening')
    const address = deaf.address()
    const port = typeof address === 'object' ? address?.port : 0
    const source = `
      const { printAskedValues } = await import(process.argv[1])
      const started = performance.now()
      await printAskedValues('runs', process.env)
      process.stderr.write(String(performance.now() - started))`
    const file = join(productRoot, 'services/cli/completion/asked-values.ts')
    const child = spawn(process.execPath, ['--input-type=module', '-e', source, file], {
      env: { ...env, REDIS_URL: `redis://127.0.0.1:${port}` },
      stdio: ['ignore', 'pipe', 'pipe'],
    })
    let said = ''
    let printed = ''
    child.stderr.setEncoding('utf8').on('data', (chunk) => {
      said += chunk
    })
    child.stdout.setEncoding('utf8').on('data', (chunk) => {
      printed += chunk
    })
    await once(child, 'close')
    deaf.close()
    expect(printed).toBe('run-first\t\n')
    // The timer's 300 ms, and what a busy machine adds to them.
    expect(Number(said)).toBeLessThan(1_500)
  })

  it('loads nothing that is heavy: it answers to a press of a key', () => {
    const seen = new Set<string>()
    const packages = new Set<string>()
    const walk = (file: string) => {
      if (seen.has(file)) return
      seen.add(file)
      for (const [, kind = '', from = ''] of readFileSync(file, 'utf8').matchAll(
        /^(import|export|\}) ?(?!type).*?from '([^']+)'/gms,
      )) {
        void kind
        if (from.startsWith('.')) walk(resolve(dirname(file), from))
        else packages.add(from)
      }
    }
    walk(join(productRoot, 'services/cli/completion/asked-values.ts'))
    const own = [...packages].filter((name) => !name.startsWith('node:')).sort()
    expect(own).toEqual(['ioredis', 'uuid', 'zod'])
  })
})
