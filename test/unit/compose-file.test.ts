import { existsSync, readdirSync, readFileSync } from 'node:fs'
import { mkdtemp, rm, writeFile } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { DCLinter } from 'dclint'
import { afterAll, beforeAll, describe, expect, it } from 'vitest'
import { productRoot, readConfig } from '../../shared/config.ts'
import { secretSettings } from '../../shared/secret-files.ts'
import {
  composeFile,
  composeText,
  composeVariables,
  readCompose,
  serviceOf,
} from '../support/compose.ts'

const compose = readCompose()
const services = Object.entries(compose.services)
const own = services.filter(([, service]) => service.build !== undefined)
/** Another test knows that these are all that there are. */
const settings = [
  ...readFileSync(join(productRoot, '.env.example'), 'utf8').matchAll(/^#([A-Z_]+)=/gm),
].map((match) => match[1] ?? '')
const names = (entries: typeof services) => entries.map(([name]) => name)

/** Matters of taste, about the order of keys and the quotes, are left to the eye. */
const TASTE = [
  'no-build-and-image',
  'no-quotes-in-volumes',
  'require-quotes-in-ports',
  'service-dependencies-alphabetical-order',
  'service-keys-order',
  'service-ports-alphabetical-order',
  'services-alphabetical-order',
  'top-level-properties-order',
]
const linter = new DCLinter({
  rules: Object.fromEntries(TASTE.map((rule) => [rule, 0])),
  quiet: false,
  debug: false,
  exclude: [],
})

function complaints(file: string): string[] {
  // The linter's own types cannot be resolved.
  const results: { messages: { message: string }[] }[] = linter.lintFiles([file], false)
  return results.flatMap(({ messages }) => messages.map((each) => each.message))
}

let folder: string
beforeAll(async () => {
  folder = await mkdtemp(join(tmpdir(), 'astra-compose-'))
})
afterAll(() => rm(folder, { recursive: true }))

describe('docker-compose.yml', () => {
  it('is what the compose schema and the linter allow', () => {
    expect(complaints(composeFile)).toEqual([])
  })

  it('would be refused with a misspelt key or an open port', async () => {
    const file = join(folder, 'docker-compose.yml')
    await writeFile(file, composeText.replace('read_only: true', 'readonly: true'))
    expect(complaints(file).join()).toMatch(/must NOT have additional properties/)
    await writeFile(file, composeText.replace('"127.0.0.1:16573:6573"', '"16573:6573"'))
    expect(complaints(file).join()).toMatch(/16573/)
  })

  it('has a service for each of ours that runs by itself, started by its own main file', () => {
    const folders = readdirSync(join(productRoot, 'services'))
    // The supervisor starts the services of one machine; the MCP server is started by its client.
    const wanted = folders.filter((name) => !['supervisor', 'mcp-server'].includes(name))
    expect(names(own).sort()).toEqual(wanted.sort())
    for (const [name, { entrypoint, command }] of own) {
      expect([...(entrypoint ?? command)]).toEqual(['node', `services/${name}/main.ts`])
    }
  })

  it('scales what may be scaled: nothing in it can be there only once', () => {
    for (const name of ['embedder', 'test-runner', 'agent-runner']) {
      const { container_name, hostname, ports } = serviceOf(compose, name)
      expect({ container_name, hostname, ports }).toEqual({ ports: [] })
    }
  })

  it('names all of its variables in docs/deployment.md', () => {
    const text = readFileSync(join(productRoot, 'docs', 'deployment.md'), 'utf8')
    const special = composeVariables.filter((name) => !settings.includes(name))
    expect(special.length).toBeGreaterThan(5)
    for (const name of special) expect(text, name).toContain(`\`${name}\``)
  })

  it('mounts files that are there', () => {
    const files = services.flatMap(([, { volumes }]) =>
      volumes.filter((volume) => volume.startsWith('./')).map((volume) => volume.split(':')[0]),
    )
    expect(files.length).toBeGreaterThan(3)
    for (const file of files) expect(existsSync(join(productRoot, file ?? '')), file).toBe(true)
  })
})

describe('each container', () => {
  it.each(services)('%s is confined, and limited in what it may use', (name, service) => {
    expect(service.cap_drop).toEqual(['ALL'])
    expect(service.security_opt).toContain('no-new-privileges:true')
    expect(service.init).toBe(true)
    expect(Object.keys(service.logging.options).sort()).toEqual(['max-file', 'max-size'])
    // VectorAI DB's image has a user of its own, and what it writes is not documented.
    if (name === 'vectorai') return
    expect(service.read_only).toBe(true)
    expect(service.user).toMatch(/^[1-9]\d*:\d+$/)
  })

  it.each(services)('%s comes from an image of a fixed version', (name, { image, build }) => {
    if (name === 'vectorai') expect(image).toBe('actian/vectorai:latest')
    else if (build) expect(image).toMatch(/^astra-codebase-memory(-test-runner)?:local$/)
    else expect(image).toMatch(/:v?\d+\.\d+\.\d+(-[a-z]+)?$/)
  })

  it('tells whether it is well, but for the one-off commands and VectorAI DB', () => {
    const silent = services.filter(([, { healthcheck }]) => healthcheck === undefined)
    expect(names(silent)).toEqual(['cli', 'vectorai'])
  })

  it('waits until what it needs is well', () => {
    for (const [name, { depends_on }] of services) {
      for (const [needed, { condition, required }] of Object.entries(depends_on)) {
        const isSilent = needed === 'vectorai'
        expect(condition, name).toBe(isSilent ? 'service_started' : 'service_healthy')
        // What a profile leaves out must not hold up what is always there.
        const isOptional = serviceOf(compose, needed).profiles.length > 0
        const alike = compose.services[name]?.profiles.join() === 'monitoring'
        expect(required ?? true, `${name} needs ${needed}`).toBe(!isOptional || alike)
      }
    }
    for (const [name, { depends_on }] of own) expect(depends_on, name).toHaveProperty('redis')
  })

  it('is given the time that it needs to end', () => {
    for (const [name, { stop_grace_period }] of services) {
      expect(Number.parseInt(stop_grace_period ?? '', 10), name).toBeGreaterThanOrEqual(15)
    }
  })
})

describe('secrets', () => {
  it('stand in files and in no environment', () => {
    for (const [name, { environment }] of services) {
      const given = secretSettings.filter((secret) => environment[secret])
      // Redis's address holds no password.
      expect(given, name).toEqual(environment.REDIS_URL ? ['REDIS_URL'] : [])
      expect(environment.REDIS_URL ?? '', name).not.toContain('@')
    }
  })

  it('of the model service reach the agent-runner alone, and only where there is a key', () => {
    const key = 'openai_api_key'
    const withKey = readCompose({ OPENAI_KEY_FILE: './secrets/openai_api_key' })
    const holders = Object.entries(withKey.services).filter(([, service]) =>
      [...service.secrets, ...Object.values(service.environment)].some((each) =>
        JSON.stringify(each).includes(key),
      ),
    )
    expect(names(holders)).toEqual(['agent-runner'])
    expect(serviceOf(withKey, 'agent-runner').environment.OPENAI_API_KEY_FILE).toBe(
      `/run/secrets/${key}`,
    )
    expect(serviceOf(compose, 'agent-runner').environment.OPENAI_API_KEY_FILE).toBe('')
    expect(compose.secrets[key]?.file).toBe('/dev/null')
  })

  it('that sign receipts reach the test-runner alone; the memory-store reads the public halves', () => {
    const holders = services.filter(([, { volumes }]) =>
      volumes.some((volume) => volume.startsWith('signing-key:')),
    )
    expect(names(holders)).toEqual(['test-runner'])
    expect(serviceOf(compose, 'memory-store').volumes).toContain(
      'trusted-keys:/var/lib/astra/keys/trusted:ro',
    )
  })
})

describe('networks', () => {
  const isOpen = (network: string) => compose.networks[network]?.internal !== true

  it('lead to the internet from the agent-runner alone', () => {
    const withInternet = services.filter(([, { networks }]) => networks.includes('internet'))
    expect(names(withInternet)).toEqual(['agent-runner'])
    expect(Object.keys(compose.networks).filter(isOpen)).toEqual(['internet', 'pages'])
    expect(compose.networks.pages?.driver_opts).toEqual({
      'com.docker.network.bridge.enable_ip_masquerade': 'false',
    })
  })

  it('let the test-runner and the embedder reach the queues and nothing else', () => {
    expect(serviceOf(compose, 'test-runner').networks).toEqual(['queue'])
    expect(serviceOf(compose, 'embedder').networks).toEqual(['queue'])
  })

  it('let this machine alone in, where a port of it leads', () => {
    const published = services.filter(([, { ports }]) => ports.length > 0)
    expect(names(published)).toEqual(['dashboard', 'vectorai', 'grafana'])
    for (const [name, { ports, networks }] of published) {
      for (const port of ports) expect(port).toMatch(/^127\.0\.0\.1:\d+:\d+$/)
      // A port of a network without a way out leads nowhere.
      expect(networks, name).toContain('pages')
    }
  })
})

describe('settings', () => {
  it.each(own)('%s is given settings that there are', (_, { environment }) => {
    for (const name of Object.keys(environment)) {
      expect(settings, name).toContain(name.replace(/_FILE$/, ''))
    }
    expect(() => readConfig({ ...environment, REDIS_PASSWORD: 'x' })).not.toThrow()
  })

  it.each([
    'agent-runner',
    'dashboard',
    'embedder',
    'memory-store',
    'offline-model',
    'test-runner',
  ])('%s is given every setting that its own code reads', (name) => {
    const { environment } = serviceOf(compose, name)
    const given = Object.keys(environment).map((each) => each.replace(/_FILE$/, ''))
    // The image has the model, and says where the data is.
    given.push('EMBEDDING_MODEL_PATH', 'ASTRA_HOME')
    const missing = settingsReadBy(name).filter((setting) => !given.includes(setting))
    expect(missing).toEqual([])
  })

  function settingsReadBy(service: string): string[] {
    const root = join(productRoot, 'services', service)
    const files = readdirSync(root, { recursive: true, encoding: 'utf8' })
    const text = files
      .filter((file) => file.endsWith('.ts'))
      .map((file) => readFileSync(join(root, file), 'utf8'))
      .join('\n')
    return settings.filter((name) => new RegExp(`\\b${name}\\b`).test(text))
  }
})
