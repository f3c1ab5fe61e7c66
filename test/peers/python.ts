import { execFile } from 'node:child_process'
import { promisify } from 'node:util'

const run = promisify(execFile)

/** The Python of ASTRA_TEST_PYTHON, or the one in the PATH, when it has the module; else null. */
export async function pythonWith(module: string): Promise<string | null> {
  const python = process.env.ASTRA_TEST_PYTHON || 'python3'
  try {
    await run(python, ['-c', `import ${module}`], { timeout: 20_000 })
    return python
  } catch {
    return null
  }
}
