import { cp, mkdtemp, rm } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { type Config, productRoot, readConfig, withDotEnv } from '../../shared/config.ts'
import { UsageError } from '../../shared/errors.ts'
import type { CliContext } from './context.ts'

export const demoLanguages = ['typescript', 'python'] as const
export type DemoLanguage = (typeof demoLanguages)[number]

/** An installation for one experiment: data and memory of its own, services of its own. */
export type Scratch = {
  folder: string
  config: Config
  /** For `withServices`. */
  host: Pick<CliContext, 'env' | 'interrupted'>
  /** A fresh copy of a demo project, for the run of that id. */
  workspace(scenario: string, language: DemoLanguage, runId: string): Promise<string>
}

/** An experiment must not touch the queues and the memory of an installation, so neither their servers. */
export const ownServers = { REDIS_URL: '', ASTRA_STORE: '' } as const

/** Runs `use` with a scratch installation, and removes it afterwards unless `keep`. */
export async function withScratchHome<T>(
  context: CliContext,
  options: { keep: boolean },
  use: (scratch: Scratch) => Promise<T>,
): Promise<T> {
  const folder = await mkdtemp(join(tmpdir(), 'astra-demo-'))
  const env = { ...withDotEnv(context.env), ...ownServers, ASTRA_HOME: join(folder, 'home') }
  try {
    return await use({
      folder,
      config: readConfig(env),
      host: { env, interrupted: context.interrupted },
      workspace: (scenario, language, runId) => copyTemplate(folder, scenario, language, runId),
    })
  } finally {
    if (!options.keep) await rm(folder, { recursive: true, force: true })
  }
}

async function copyTemplate(
  folder: string,
  scenario: string,
  language: DemoLanguage,
  runId: string,
): Promise<string> {
  const template = join(productRoot, 'demo_projects', 'templates', language, scenario)
  const target = join(folder, 'workspaces', runId)
  await cp(template, target, { recursive: true, errorOnExist: true }).catch((cause) => {
    throw new UsageError(`there is no demo project ${language}/${scenario}`, { cause })
  })
  return target
}
