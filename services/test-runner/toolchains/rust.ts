import { homedir } from 'node:os'
import { join } from 'node:path'
import { findProgram, probe } from '../programs.ts'
import {
  exists,
  isSystemPath,
  type Toolchain,
  type ToolchainRequest,
  withoutWorkspace,
} from './toolchain.ts'

/** The parts of a cargo home that builds read; its credentials are none of them. */
const CARGO_PARTS = ['registry', 'git', 'config.toml']

/** Rust as rustup or the system has it, with the crates that are already there. */
export async function rustToolchain(request: ToolchainRequest): Promise<Toolchain> {
  const cargoHome = process.env.CARGO_HOME || join(homedir(), '.cargo')
  const env = { CARGO_HOME: cargoHome, CARGO_NET_OFFLINE: 'true', RUSTUP_AUTO_INSTALL: '0' }
  const path = withoutWorkspace(request)
  const program = await findProgram('rustc', path)
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
  const present = await Promise.all(places.map(exists))
  return {
    folders: [join(sysroot, 'bin')],
    env,
    places: places.filter((place, index) => present[index] && !isSystemPath(place)),
  }
}
