import { describe, expect, it } from 'vitest'
import { diffView } from '../../services/dashboard/parts/diff.ts'

/** Kind and text of each line. */
async function lines(diff: string): Promise<string[]> {
  const page = String(await diffView(diff))
  return [...page.matchAll(/<span class="diff-(\w+)">([^<]*)\n<\/span>/g)].map(
    ([, kind, text]) => `${kind} ${text}`,
  )
}

describe('the view of a diff', () => {
  it('knows added, removed and kept lines, hunks and the headers of files', async () => {
    const diff = '--- a/a.ts\n+++ b/a.ts\n@@ -1,2 +1,2 @@ f()\n keep\n-old\n+new\n'
    expect(await lines(diff)).toEqual([
      'file --- a/a.ts',
      'file +++ b/a.ts',
      'hunk @@ -1,2 +1,2 @@ f()',
      'same  keep',
      'del -old',
      'add +new',
    ])
  })

  it('takes no line of a hunk for the header of a file', async () => {
    const diff = '--- a/a.sql\n+++ b/a.sql\n@@ -1 +1 @@\n--- a comment\n+++ a comment\n'
    expect((await lines(diff)).slice(3)).toEqual(['del --- a comment', 'add +++ a comment'])
  })

  it('begins a new file after the last line of a hunk', async () => {
    const one = '--- a/a\n+++ b/a\n@@ -1 +1 @@\n-x\n+y\n\\ No newline at end of file\n'
    const kinds = (await lines(one + one)).map((line) => line.split(' ')[0])
    const each = ['file', 'file', 'hunk', 'del', 'add', 'same']
    expect(kinds).toEqual([...each, ...each])
  })

  it('shows text as text, without what steers a terminal', async () => {
    const page = String(
      await diffView('@@ -0,0 +1 @@\n+<script>\u001b[31m"</script>\u202e\ud800\n'),
    )
    expect(page).toContain('+&lt;script&gt;&quot;&lt;/script&gt;\ufffd')
  })

  it('cuts what is too long, and says so', async () => {
    const many = `@@ -0,0 +1,9000 @@\n${'+x\n'.repeat(9000)}`
    const long = `@@ -0,0 +1 @@\n+${'x'.repeat(1_000_000)}\n`
    for (const diff of [many, long]) {
      const page = String(await diffView(diff))
      expect(page.length).toBeLessThan(300_000)
      expect(page).toContain('too long to be shown')
    }
  })
})
