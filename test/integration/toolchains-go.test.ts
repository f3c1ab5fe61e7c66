import { readdir } from 'node:fs/promises'
import { join } from 'node:path'
import { afterAll, beforeAll, describe, expect, it } from 'vitest'
import { type Folder, openFolder } from '../support/real-folders.ts'
import { hasGo, makeRun, type TestedRun } from '../support/test-runner.ts'

let folder: Folder
let tested: TestedRun

/** What a test writes into the build cache, if it can. */
const WRITES = `package shop

import (
	"os"
	"path/filepath"
	"testing"
)

func init() {
	os.WriteFile(filepath.Join(os.Getenv("GOCACHE"), "written-by-tests"), nil, 0o644)
}

func TestAdd(t *testing.T) {
	if Add(1, 2) != 3 {
		t.Fatal("not 3")
	}
}
`
const contents = {
  'go.mod': 'module example.com/shop\n\ngo 1.20\n',
  'add.go': 'package shop\n\nfunc Add(a, b int) int { return a - b }\n',
  'add_test.go': WRITES,
  'sub/sub.go': 'package sub\n\nfunc One() int { return 1 }\n',
  'sub/sub_test.go':
    'package sub\n\nimport "testing"\n\nfunc TestOne(t *testing.T) {\n\tif One() != 1 {\n\t\tt.Fatal()\n\t}\n}\n',
}

const cached = async () => {
  const names = await readdir(join(tested.home, 'cache', 'go-sandbox'), { recursive: true })
  return names.filter((name) => !/(trim\.txt|testexpire\.txt)$/.test(name)).sort()
}

describe.skipIf(!hasGo)('go test with a cache that is empty at first', () => {
  beforeAll(async () => {
    folder = await openFolder()
    tested = await makeRun(contents, { workspace: folder.at('shop'), seconds: 150 })
  })
  afterAll(async () => {
    await tested?.remove()
    await folder?.remove()
  })

  it('tells the failing test from the others, and keeps what it compiled', async () => {
    expect(await tested.baseline()).toMatchObject({ kind: 'red', passed: 1, failed: 1 })
    expect((await cached()).length).toBeGreaterThan(100)
  }, 200_000)

  it('lets neither tests nor a patch write to the cache', async () => {
    const before = await cached()
    expect(before.filter((name) => name.endsWith('written-by-tests'))).toEqual([])
    const edits = { 'add.go': 'package shop\n\nfunc Add(a, b int) int { return a + b }\n' }
    expect(await tested.verify('go test ./...', edits)).toMatchObject({ confirmed: true })
    expect(await cached()).toEqual(before)
  })
})
