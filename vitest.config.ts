import { defineConfig } from 'vitest/config'

export default defineConfig({
  test: {
    include: ['test/**/*.test.ts'],
    exclude: ['**/node_modules/**', 'test/fixtures/**'],
    // Real processes and real models on two cores: a hung test ends here, no test waits for it.
    testTimeout: 60_000,
    hookTimeout: 60_000,
    pool: 'forks',
    maxWorkers: 2,
    retry: 0,
    // Astra's own settings of the person who runs the tests must not reach them.
    env: { ASTRA_HOME: '', REDIS_URL: '', OPENAI_API_KEY: '', OPENAI_BASE_URL: '' },
  },
})
