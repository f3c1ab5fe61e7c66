import { mkdir, writeFile } from 'node:fs/promises'
import { dirname, join } from 'node:path'

export type Project = { name: string; files: Record<string, string> }

/**
 * A project of one function and one test file. Exactly one edit that the stand-in knows mends each,
 * so that every run of a project ends with the same patch whatever order its tries come in.
 */
const project = (name: string, source: string, check: string): Project => ({
  name,
  files: {
    'package.json': `${JSON.stringify({ name, type: 'module', scripts: { test: 'node --test' } })}\n`,
    'index.js': source,
    'index.test.js': [
      "import assert from 'node:assert/strict'",
      "import { test } from 'node:test'",
      "import * as subject from './index.js'",
      '',
      check,
      '',
    ].join('\n'),
  },
})

/** The smallest that the system can work on: what they cost is processes, not tests. */
export const projects: readonly Project[] = [
  project(
    'last-page',
    'export function pageCount(items, size) {\n  return Math.floor(items / size)\n}\n',
    "test('a part of a page is a page', () => {\n  assert.equal(subject.pageCount(7, 3), 3)\n  assert.equal(subject.pageCount(6, 3), 2)\n})",
  ),
  project(
    'grown-up',
    'export function isGrownUp(age) {\n  return age > 18\n}\n',
    "test('eighteen is grown up', () => {\n  assert.equal(subject.isGrownUp(18), true)\n  assert.equal(subject.isGrownUp(17), false)\n})",
  ),
  project(
    'number-order',
    'export function ranked(points) {\n  return [...points].sort()\n}\n',
    "test('ten comes after nine', () => {\n  assert.deepEqual(subject.ranked([10, 9, 1]), [1, 9, 10])\n})",
  ),
  project(
    'two-slips',
    'export function isFull(used, room) {\n  return used > room\n}\n\nexport function ranked(points) {\n  return [...points].sort()\n}\n',
    "test('no room is full', () => {\n  assert.equal(subject.isFull(3, 3), true)\n  assert.equal(subject.isFull(2, 3), false)\n})\n\ntest('ten comes after nine', () => {\n  assert.deepEqual(subject.ranked([10, 9, 1]), [1, 9, 10])\n})",
  ),
]

/** Writes a project into a folder that is not there yet. */
export async function writeProject(folder: string, { files }: Project): Promise<void> {
  for (const [path, text] of Object.entries(files)) {
    await mkdir(dirname(join(folder, path)), { recursive: true })
    await writeFile(join(folder, path), text, { flag: 'wx' })
  }
}
