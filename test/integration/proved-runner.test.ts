import { mkdir, mkdtemp, rm, writeFile } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { afterAll, beforeAll, expect, it } from 'vitest'
import { type Astra, createAstra } from '../support/astra.ts'
import {
  functionCall,
  message,
  type ScriptedModel,
  startScriptedModel,
} from '../support/scripted-model.ts'

let astra: Astra
let model: ScriptedModel
let workspace: string

const edit = (path: string) =>
  functionCall('apply_edit', { path, old_text: 'a - b', new_text: 'a + b' })
const tests = (command: string) => functionCall('run_tests', { command })
const replies = [
  [
    functionCall(
      'search_codebase_memory',
      { query: 'sums are wrong', error_type: null, top_k: 3, task_handle: 'memory' },
      { async: true },
    ),
    functionCall('wait_for_tasks', { task_handles: ['memory'] }),
  ],
  [edit('sums.py'), tests('python -m unittest')],
  [
    functionCall('store_fix_memory', {
      fix_description: 'Add the two numbers instead of taking one from the other',
      error_type: 'AssertionError',
      file_paths: ['sums.py'],
      outcome: 'unittest passed with exit code 0',
    }),
  ],
  [edit('sums.mjs'), tests('node --test')],
]

beforeAll(async () => {
  workspace = await mkdtemp(join(tmpdir(), 'astra-two-runners-'))
  const files = {
    'package.json': '{ "name": "sums", "type": "module", "scripts": { "test": "node --test" } }\n',
    'sums.mjs': 'export const sum = (a, b) => a - b\n',
    'test/sums.test.mjs': `import assert from 'node:assert/strict'
import test from 'node:test'
import { sum } from '../sums.mjs'
test('adds', () => assert.equal(sum(1, 2), 3))
`,
    'sums.py': 'def total(a, b):\n    return a - b\n',
    'test_sums.py': `import unittest
from sums import total
class Sums(unittest.TestCase):
    def test_adds(self):
        self.assertEqual(total(1, 2), 3)
`,
  }
  await mkdir(join(workspace, 'test'))
  for (const [path, text] of Object.entries(files)) await writeFile(join(workspace, path), text)
  model = await startScriptedModel((_body, n) => ({
    output: replies[n - 1] ?? [message('Both add now.')],
  }))
  astra = await createAstra({
    OPENAI_API_KEY: `sk-fake-${process.pid}`,
    OPENAI_BASE_URL: model.url,
  })
})

afterAll(async () => {
  await model?.close()
  await astra?.remove()
  await rm(workspace, { recursive: true, force: true })
})

it('a fix is stored with the runner that proved it, where a workspace has tests of several', async () => {
  const lease = await astra.hold()
  try {
    const fixed = await astra.cli(['fix', workspace, '--approve-live-cost', '--json'])
    const view = JSON.parse(fixed.stdout)
    expect(view).toMatchObject({ status: 'fixed', stored_memory_id: expect.any(String) })
    const shown = await astra.cli(['memory', 'show', view.stored_memory_id, '--json'])
    expect(JSON.parse(shown.stdout)).toMatchObject({ framework: 'unittest', unproved: null })
  } finally {
    await lease.release()
  }
})
