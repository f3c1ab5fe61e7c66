import { spawnSync } from 'node:child_process'
import { readFileSync } from 'node:fs'
import { writeFile } from 'node:fs/promises'
import { join } from 'node:path'
import { z } from 'zod'
import { productRoot } from '../../shared/config.ts'

const rule = z.looseObject({ names: z.array(z.string()), action: z.string() })
const profileSchema = z.looseObject({ defaultAction: z.string(), syscalls: z.array(rule) })
export type SeccompProfile = z.infer<typeof profileSchema>

export const seccompFile = join(productRoot, 'ops', 'docker', 'seccomp-test-runner.json')
export const seccompProfile = () =>
  profileSchema.parse(JSON.parse(readFileSync(seccompFile, 'utf8')))

/** Debian's own Python: the binding is one of its packages. */
const PYTHON = '/usr/bin/python3'
const HELPER = join(import.meta.dirname, 'seccomp_filter.py')

/** Whether a profile can be compiled here: needs Debian's python3-seccomp. */
export const canCompileSeccomp = spawnSync(PYTHON, ['-c', 'import seccomp']).status === 0

/** Compiles a profile to what the kernel takes, at `path`, as a container without capabilities gets it. */
export async function compileSeccomp(profile: SeccompProfile, path: string): Promise<string> {
  await writeFile(`${path}.json`, JSON.stringify(profile))
  const result = spawnSync(PYTHON, [HELPER, `${path}.json`, path], { encoding: 'utf8' })
  if (result.status !== 0) throw new Error(`the profile was not compiled: ${result.stderr}`)
  return path
}
