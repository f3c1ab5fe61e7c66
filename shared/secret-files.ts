import { readFileSync } from 'node:fs'
import { ConfigError, errorText } from './errors.ts'

type Env = Record<string, string | undefined>

/** Settings that hold a secret. Each may stand in a file instead, which `NAME_FILE` names. */
export const secretSettings = [
  'REDIS_URL',
  'REDIS_PASSWORD',
  'OPENAI_API_KEY',
  'ASTRA_QDRANT_API_KEY',
  'ASTRA_VECTORAI_TOKEN',
] as const

const fileSetting = (name: string) => `${name}_FILE`

/**
 * The later layers over the earlier ones. A secret and the file that it may stand in are one setting:
 * a layer that has either hides both of those below, so an empty `NAME` hides a file, too.
 */
export function layeredEnv(layers: readonly Env[]): Env {
  const merged: Env = {}
  for (const layer of layers) {
    for (const name of secretSettings) {
      if (layer[name] === undefined && layer[fileSetting(name)] === undefined) continue
      delete merged[name]
      delete merged[fileSetting(name)]
    }
    Object.assign(merged, layer)
  }
  return merged
}

/**
 * The environment with the secrets that stand in files, and without the names of those files: what is
 * started with it reads none again. Throws ConfigError that names the variable.
 */
export function withSecretsOfFiles(env: Env): Env {
  const result = { ...env }
  for (const name of secretSettings) {
    const file = result[fileSetting(name)]
    delete result[fileSetting(name)]
    if (!file) continue
    if (result[name]) {
      throw new ConfigError(`bad configuration: ${name} and ${fileSetting(name)} are both set`, {
        hint: 'set one of the two',
      })
    }
    result[name] = readSecret(fileSetting(name), file)
  }
  return result
}

function readSecret(variable: string, file: string): string {
  let text: string
  try {
    text = readFileSync(file, 'utf8').trim()
  } catch (cause) {
    throw new ConfigError(`bad configuration: ${variable}: ${errorText(cause)}`, {
      hint: 'it names a file that holds the secret and nothing else, readable by this process',
      cause,
    })
  }
  if (text !== '') return text
  throw new ConfigError(`bad configuration: ${variable}: ${file} is empty`, {
    hint: 'put the secret into the file, or leave the variable unset',
  })
}
