import { defineConfig } from 'vitest/config'

export default defineConfig({
  test: {
    include: ['test/**/*.test.ts'],
    exclude: ['**/node_modules/**', 'test/fixtures/**'],
    // Real processes and real models on two cores, which others may be using too: a hung test ends
    // here, no test waits for it.
    testTimeout: 180_000,
    hookTimeout: 180_000,
    // A poll ends when it holds; only one that never would takes this long.
    expect: { poll: { timeout: 60_000 } },
    pool: 'forks',
    // More than cores: much of the time is waiting for processes, locks and limits.
    maxWorkers: 3,
    retry: 0,
    // Astra's own settings of the person who runs the tests must not reach them.
    env: { ASTRA_HOME: '', REDIS_URL: '', OPENAI_API_KEY: '', OPENAI_BASE_URL: '' },
  },
})
