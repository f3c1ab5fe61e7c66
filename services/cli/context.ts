import { resolve } from 'node:path'
import { type Config, readConfig, withDotEnv } from '../../shared/config.ts'

type Env = Record<string, string | undefined>

/** What every command gets from the process. */
export type CliContext = {
  env: Env
  /** Aborts at the first Ctrl-C. */
  interrupted: AbortSignal
  /** Throws ConfigError. Not read before a command needs it: help works with a bad configuration. */
  config(): Config
  /** A path as the person typed it, from where they stood. */
  path(typed: string): string
}

export function createContext(env: Env, cwd: string, interrupted: AbortSignal): CliContext {
  return {
    env,
    interrupted,
    config: () => readConfig(withDotEnv(env)),
    path: (typed) => resolve(cwd, typed),
  }
}
