import { execFileSync } from 'node:child_process'
import { describe, expect, it } from 'vitest'
import { createContext } from '../../services/cli/context.ts'
import { whereToSee } from '../../services/cli/format/where-to-see.ts'
import { withScratchHome } from '../../services/cli/scratch-home.ts'

const { signal } = new AbortController()
const context = (env: Record<string, string>) =>
  createContext({ ASTRA_HOME: '/nowhere', REDIS_URL: '', ASTRA_STORE: '', ...env }, '/', signal)

describe('where the runs of a demo are to be seen', () => {
  it('is the command with which the person began, on what was kept', () => {
    expect(whereToSee(context({ npm_lifecycle_event: 'demo' }), '/tmp/kept')).toBe(
      'See them: ASTRA_HOME=/tmp/kept npm run astra -- dashboard',
    )
    expect(whereToSee(context({}), '/tmp/kept')).toBe(
      'See them: ASTRA_HOME=/tmp/kept astra dashboard',
    )
  })

  it('is the Redis and the memory of the demo, also for someone who has others', async () => {
    const env = { REDIS_URL: 'redis://127.0.0.1:6379', ASTRA_STORE: 'qdrant' }
    await withScratchHome(context(env), { keep: false }, async ({ config }) => {
      expect(config.redis).toHaveProperty('path')
      expect(config.ASTRA_STORE).toBe('sqlite')
    })
    expect(whereToSee(context(env), '/tmp/kept')).toBe(
      'See them: REDIS_URL= ASTRA_STORE= ASTRA_HOME=/tmp/kept astra dashboard',
    )
  })

  it('is a command that a shell takes as it is meant, whatever the folder is called', () => {
    const folder = "/tmp/a person's $HOME"
    const assignment = whereToSee(context({}), folder)
      .slice('See them: '.length)
      .split(' astra ')[0]
    const seen = execFileSync('sh', ['-c', `${assignment}; printf %s "$ASTRA_HOME"`])
    expect(seen.toString()).toBe(folder)
  })

  it('is nowhere when nothing was kept, and it says how to keep it', () => {
    expect(whereToSee(context({}), null)).toContain('astra demo --keep')
  })
})
