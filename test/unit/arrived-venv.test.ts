import { rm, symlink } from 'node:fs/promises'
import { afterEach, beforeEach, expect, it } from 'vitest'
import { arrivedVenvProblem } from '../../services/test-runner/toolchains/arrived-venv.ts'
import type { PlacedManifest } from '../../shared/workspace.ts'
import { type Folder, openFolder } from '../support/real-folders.ts'

const TARGET = '/home/ann/shop/.venv'

let folder: Folder
beforeEach(async () => {
  folder = await openFolder()
  await folder.write('venv/pyvenv.cfg', 'home = /opt/python3.11/bin\n')
  await folder.write('venv/lib/python3.11/site-packages/left.py', '')
  await folder.program('opt/bin/python3.11', 'exit 0')
  await folder.program('opt/bin/python3.9', 'exit 0')
  await folder.write('venv/bin/activate', '')
})
afterEach(() => folder.remove())

const manifest = (): PlacedManifest => ({
  workspace: '/home/ann/shop',
  files: [],
  links: [{ path: '.venv', target: TARGET }],
  arrived: { dependencies: [folder.at('venv')] },
})

it('has no problem with the interpreter that the environment was made with', async () => {
  await symlink(folder.at('opt/bin/python3.11'), folder.at('venv/bin/python'))
  expect(await arrivedVenvProblem(manifest())).toBeNull()
})

it('names the place where this machine lacks the interpreter', async () => {
  await symlink('/opt/python3.11/bin/python3.11', folder.at('venv/bin/python'))
  const problem = await arrivedVenvProblem(manifest())
  expect(problem).toContain(`${TARGET} came from another machine`)
  expect(problem).toContain('a Python in /opt/python3.11/bin, which this machine lacks')
})

it('does not let an interpreter of another version miss what is installed', async () => {
  await symlink(folder.at('opt/bin/python3.9'), folder.at('venv/bin/python'))
  expect(await arrivedVenvProblem(manifest())).toContain('a Python of another version than 3.9')
})

it('looks at nothing where the environment is the person’s own, or none has come', async () => {
  const { arrived: _, ...own } = manifest()
  expect(await arrivedVenvProblem(own)).toBeNull()
  await rm(folder.at('venv/pyvenv.cfg'))
  expect(await arrivedVenvProblem(manifest())).toBeNull()
})
