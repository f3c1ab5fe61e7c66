import { homedir } from 'node:os'
import { join } from 'node:path'
import { probe } from '../run/programs.ts'
import { personsPath, personsPrograms } from './persons-programs.ts'
import { presentPlaces, type Toolchain, type ToolchainRequest } from './toolchain.ts'

/** The parts of a cargo home that builds read; its credentials are none of them. */
const CARGO_PARTS = ['registry', 'git', 'config.toml']

/** Rust as rustup or the system has it, with the crates that are already there. */
export async function rustToolchain(request: ToolchainRequest): Promise<Toolchain> {
  const cargoHome = process.env.CARGO_HOME || join(homedir(), '.cargo')
  const env = { CARGO_HOME: cargoHome, CARGO_NET_OFFLINE: 'true', RUSTUP_AUTO_INSTALL: '0' }
  const path = await personsPath(request)
  const [program] = await personsPrograms('rustc', request)
  const rustup = process.env.RUSTUP_HOME ? { RUSTUP_HOME: process.env.RUSTUP_HOME } : {}
  const sysroot =
    program &&
    (await probe(program, ['--print', 'sysroot'], {
      PATH: path,
      CARGO_HOME: cargoHome,
      RUSTUP_AUTO_INSTALL: '0',
      ...rustup,
    }))
  if (!sysroot) return { folders: [], env, places: [] }
  const places = [sysroot, ...CARGO_PARTS.map((part) => join(cargoHome, part))]
  return { folders: [join(sysroot, 'bin')], env, places: await presentPlaces(places) }
}
