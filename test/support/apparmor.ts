import { spawnSync } from 'node:child_process'
import { existsSync } from 'node:fs'
import { join } from 'node:path'
import { productRoot } from '../../shared/config.ts'

export const apparmorFile = join(productRoot, 'ops', 'docker', 'apparmor-test-runner')

const PARSER = '/sbin/apparmor_parser'
export const canParseAppArmor = existsSync(PARSER)

/** Parses and compiles a profile; nothing is loaded. */
export function parseAppArmor(text: string): { code: number | null; profiles: string[] } {
  const compiled = spawnSync(PARSER, ['--skip-kernel-load', '--skip-cache'], { input: text })
  const named = spawnSync(PARSER, ['--skip-kernel-load', '--skip-cache', '--names'], {
    input: text,
    encoding: 'utf8',
  })
  return { code: compiled.status, profiles: named.stdout.trim().split('\n') }
}
