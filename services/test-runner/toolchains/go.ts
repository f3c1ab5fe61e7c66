import { homedir } from 'node:os'
import { join } from 'node:path'
import { z } from 'zod'
import { probe } from '../run/programs.ts'
import { personsPath, personsPrograms } from './persons-programs.ts'
import { exists, isSystemPath, type Toolchain, type ToolchainRequest } from './toolchain.ts'

const answerSchema = z.object({ GOROOT: z.string(), GOMODCACHE: z.string() })

/** Modules from the person's cache, nothing from the network, builds in a cache per workspace. */
export async function goToolchain(request: ToolchainRequest): Promise<Toolchain> {
  const vendored = request.manifest.files.some((file) => file.path === 'vendor/modules.txt')
  const env = {
    GOPROXY: 'off',
    GOTOOLCHAIN: 'local',
    GOFLAGS: vendored ? '-mod=vendor' : '-mod=mod',
    GOCACHE: request.goCache,
    // Its index of folders is written to the cache, and the tests cannot write there.
    GODEBUG: 'goindex=0',
  }
  const path = await personsPath(request)
  const [program] = await personsPrograms('go', request)
  const answer =
    program &&
    (await probe(program, ['env', '-json', 'GOROOT', 'GOMODCACHE'], {
      PATH: path,
      GOTOOLCHAIN: 'local',
      ...(process.env.GOPATH ? { GOPATH: process.env.GOPATH } : {}),
      ...(process.env.GOMODCACHE ? { GOMODCACHE: process.env.GOMODCACHE } : {}),
      GOCACHE: join(homedir(), '.cache', 'go-build'),
    }))
  if (!answer) return { folders: [], env, places: [] }
  const { GOROOT, GOMODCACHE } = answerSchema.parse(JSON.parse(answer))
  const modules = (await exists(GOMODCACHE)) ? { GOMODCACHE } : {}
  return {
    folders: [join(GOROOT, 'bin')],
    env: { ...env, GOROOT, ...modules },
    places: [GOROOT, ...Object.values(modules)].filter((place) => !isSystemPath(place)),
  }
}
