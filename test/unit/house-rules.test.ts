import { spawnSync } from 'node:child_process'
import { existsSync, readdirSync, readFileSync } from 'node:fs'
import { mkdir, mkdtemp, rm, writeFile } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { dirname, join } from 'node:path'
import { afterAll, beforeAll, describe, expect, it } from 'vitest'
import { productRoot } from '../../shared/config.ts'
import { catalog } from '../../shared/contracts/catalog.ts'

const services = readdirSync(join(productRoot, 'services'))

let folder: string
beforeAll(async () => {
  folder = await mkdtemp(join(tmpdir(), 'astra-house-'))
  const config = JSON.parse(readFileSync(join(productRoot, 'biome.json'), 'utf8'))
  await writeFile(
    join(folder, 'biome.json'),
    JSON.stringify({ ...config, vcs: { enabled: false } }),
  )
})
afterAll(() => rm(folder, { recursive: true, force: true }))

/** Plants a file with one import and returns what the project's linter says of it. */
async function lintPlanted(place: string, imported: string): Promise<string> {
  await mkdir(join(folder, dirname(place)), { recursive: true })
  const source = `import { planted } from '${imported}'\n\nexport const used = planted\n`
  await writeFile(join(folder, place), source)
  const biome = join(productRoot, 'node_modules/.bin/biome')
  const result = spawnSync(biome, ['lint', place], { cwd: folder, encoding: 'utf8' })
  return result.status === 0 ? 'clean' : result.stdout + result.stderr
}

describe('a service imports shared/ and itself only', () => {
  it.each(services)('%s: an import of any other service fails the linter', async (service) => {
    for (const other of services.filter((each) => each !== service)) {
      const said = await lintPlanted(`services/${service}/planted.ts`, `../${other}/main.ts`)
      expect(said, `${service} -> ${other}`).toContain('noRestrictedImports')
    }
  })

  it.each(services)('%s: its own files and shared/ are allowed', async (service) => {
    const place = `services/${service}/planted.ts`
    expect(await lintPlanted(place, './other.ts')).toBe('clean')
    expect(await lintPlanted(place, '../../shared/errors.ts')).toBe('clean')
  })

  it('shared/ imports no service, and neither imports a test', async () => {
    for (const [place, imported] of [
      ['shared/planted.ts', '../services/cli/main.ts'],
      ['shared/planted.ts', '../test/support/redis.ts'],
      ['services/cli/planted.ts', '../../test/support/redis.ts'],
    ] as const) {
      expect(await lintPlanted(place, imported)).toContain('noRestrictedImports')
    }
  })
})

describe('the layout', () => {
  it('has a main.ts for each service, and a service for each consumer and producer of the catalog', () => {
    for (const service of services) {
      expect(existsSync(join(productRoot, 'services', service, 'main.ts')), service).toBe(true)
    }
    for (const { consumer, jobs } of Object.values(catalog)) {
      expect(services).toContain(consumer)
      for (const { producers } of Object.values(jobs)) {
        for (const producer of producers) expect(services).toContain(producer)
      }
    }
  })

  it('names no queue as a string outside the catalog and its helpers', () => {
    const files = ['shared', 'services'].flatMap((folder) =>
      readdirSync(join(productRoot, folder), { recursive: true, encoding: 'utf8' })
        .filter((name) => name.endsWith('.ts'))
        .map((name) => join(folder, name)),
    )
    const offenders = files.filter((file) =>
      /new (Queue|Worker|FlowProducer|QueueEvents)\(/.test(
        readFileSync(join(productRoot, file), 'utf8'),
      ),
    )
    expect(offenders.sort()).toEqual(['shared/queue/consumer.ts', 'shared/queue/producer.ts'])
  })

  it('pins every dependency to one exact version', () => {
    const manifest = JSON.parse(readFileSync(join(productRoot, 'package.json'), 'utf8'))
    const all = { ...manifest.dependencies, ...manifest.devDependencies }
    for (const [name, version] of Object.entries(all)) {
      expect(version, name).toMatch(/^\d+\.\d+\.\d+$/)
    }
  })
})
