import { readFileSync } from 'node:fs'
import { join } from 'node:path'
import { parse } from 'yaml'
import { z } from 'zod'
import { productRoot } from '../../shared/config.ts'

const words = z.array(z.string())
const limits = z.object({ cpus: z.string(), memory: z.string(), pids: z.number() })

/** What tests ask of a service; the rest is the schema's, which another test holds it against. */
const serviceSchema = z.looseObject({
  image: z.string(),
  build: z.object({ dockerfile: z.string(), target: z.string() }).loose().optional(),
  profiles: words.default([]),
  user: z.string().optional(),
  entrypoint: words.optional(),
  command: words.default([]),
  environment: z.record(z.string(), z.string()).default({}),
  secrets: z
    .array(z.union([z.string(), z.object({ source: z.string(), target: z.string() })]))
    .default([]),
  volumes: words.default([]),
  tmpfs: words.default([]),
  networks: words,
  ports: words.default([]),
  hostname: z.string().optional(),
  container_name: z.string().optional(),
  depends_on: z
    .record(z.string(), z.object({ condition: z.string(), required: z.boolean().optional() }))
    .default({}),
  healthcheck: z.object({ test: words }).loose().optional(),
  stop_grace_period: z.string().optional(),
  read_only: z.boolean(),
  init: z.boolean(),
  restart: z.string(),
  cap_drop: words,
  security_opt: words,
  logging: z.object({ options: z.record(z.string(), z.string()) }).loose(),
  deploy: z.object({ resources: z.object({ limits }) }),
})
export type ComposeService = z.infer<typeof serviceSchema>

const composeSchema = z.looseObject({
  services: z.record(z.string(), serviceSchema),
  networks: z.record(z.string(), z.looseObject({ internal: z.boolean().optional() })),
  volumes: z.record(z.string(), z.null()),
  secrets: z.record(z.string(), z.object({ file: z.string() })),
})
export type Compose = z.infer<typeof composeSchema>

export const composeFile = join(productRoot, 'docker-compose.yml')
export const composeText = readFileSync(composeFile, 'utf8')

/** The compose file as Compose reads it with these variables. */
export function readCompose(variables: Record<string, string> = {}): Compose {
  const read = (value: unknown): unknown => {
    if (typeof value === 'string') return interpolate(value, variables)
    if (Array.isArray(value)) return value.map(read)
    if (value === null || typeof value !== 'object') return value
    return Object.fromEntries(Object.entries(value).map(([key, each]) => [key, read(each)]))
  }
  return composeSchema.parse(read(parse(composeText, { merge: true })))
}

export function serviceOf({ services }: Compose, name: string): ComposeService {
  const service = services[name]
  if (service) return service
  throw new Error(`docker-compose.yml has no service ${name}`)
}

const VARIABLE = /\$\$|\$\{([A-Z_]+)(:[-+])([^}]*)\}/g

/** `$$`, `${NAME:-default}` and `${NAME:+instead}`: all that the file uses of what Compose knows. */
function interpolate(text: string, variables: Record<string, string>): string {
  return text.replace(VARIABLE, (_, name?: string, operator?: string, word = '') => {
    if (name === undefined) return '$'
    const value = variables[name] ?? ''
    if (operator === ':+') return value === '' ? '' : word
    return value === '' ? word : value
  })
}

/** All variables that the compose file takes. */
export const composeVariables = [
  ...new Set([...composeText.matchAll(VARIABLE)].flatMap((match) => match[1] ?? [])),
]
