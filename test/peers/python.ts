import { execFile } from 'node:child_process'
import { promisify } from 'node:util'

const run = promisify(execFile)

/** A Python that has what a peer needs, or why its tests are skipped. */
export type PeerPython = { python: string; skip: null } | { python: null; skip: string }

/** The Python of ASTRA_TEST_PYTHON, or the one in the PATH. `wanted`: the package and its version. */
export async function pythonWith(module: string, wanted: string): Promise<PeerPython> {
  const python = process.env.ASTRA_TEST_PYTHON || 'python3'
  try {
    await run(python, ['-c', `import ${module}`], { timeout: 20_000 })
    return { python, skip: null }
  } catch {
    const skip = `${python} has no ${wanted}; ASTRA_TEST_PYTHON names a Python that has it`
    process.stderr.write(`skipped: ${skip}\n`)
    return { python: null, skip }
  }
}
