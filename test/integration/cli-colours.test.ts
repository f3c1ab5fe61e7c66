import { mkdtempSync, readFileSync, rmSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { afterAll, beforeAll, describe, expect, it } from 'vitest'
import { hasColours } from '../../services/cli/format/terminal.ts'
import { productRoot } from '../../shared/config.ts'
import { runAstra } from '../support/cli.ts'
import { onPath, openTerminal } from '../support/terminal.ts'

let home: string
beforeAll(() => {
  home = mkdtempSync(join(tmpdir(), 'astra-colours-'))
})
afterAll(() => rmSync(home, { recursive: true, force: true }))

describe('colours', () => {
  it.each([
    ['at a terminal', true, {}, true],
    ['in a pipe', false, {}, false],
    ['at a dumb terminal', true, { TERM: 'dumb' }, false],
    ['with NO_COLOR', true, { NO_COLOR: '1' }, false],
    ['with an empty NO_COLOR, which says nothing', true, { NO_COLOR: '' }, true],
    ['in a pipe with FORCE_COLOR', false, { FORCE_COLOR: '1' }, true],
    ['in a pipe with an empty FORCE_COLOR, as others take it', false, { FORCE_COLOR: '' }, true],
    ['at a terminal with FORCE_COLOR=0', true, { FORCE_COLOR: '0' }, false],
    [
      'with both, where the one that asks for less decides',
      true,
      { FORCE_COLOR: '1', NO_COLOR: '1' },
      false,
    ],
  ])('%s', (_title, isTTY, env, expected) => {
    expect(hasColours({ isTTY }, { TERM: 'xterm', ...env })).toBe(expected)
  })

  it('are not in what a pipe gets, unless it was forced', async () => {
    expect((await runAstra(['help'], { home })).stdout).not.toContain('\u001b[')
    const forced = await runAstra(['help'], { home, env: { FORCE_COLOR: '1' } })
    expect(forced.stdout).toContain('\u001b[1mNAME\u001b[22m')
  })

  const title = 'are judged for stdout and stderr by itself'
  const hasScript = onPath('script')
  it.skipIf(!hasScript)(hasScript ? title : `${title} (no script)`, async () => {
    const astra = `'${process.execPath}' '${join(productRoot, 'services/cli/main.ts')}'`
    const env = { PATH: process.env.PATH, HOME: home, ASTRA_HOME: join(home, 'a'), TERM: 'xterm' }
    const shown = (line: string, more: Record<string, string> = {}) =>
      openTerminal(`${astra} ${line}`, { cwd: home, env: { ...env, ...more } }).end()
    expect(await shown('help')).toContain('\u001b[1mNAME\u001b[22m')
    expect(await shown('help', { NO_COLOR: '1' })).not.toContain('\u001b[')
    // Its list is empty, and what it notes goes to stderr.
    expect(await shown('keys list > out')).toContain('\u001b[2mno signing key yet')
    expect(readFileSync(join(home, 'out'), 'utf8')).toBe('')
    expect(await shown('keys list 2> err')).toBe('')
    expect(readFileSync(join(home, 'err'), 'utf8')).toMatch(/^no signing key yet/)
  })
})
