import { spawnSync } from 'node:child_process'
import { cpSync, mkdtempSync, readFileSync, rmSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { describe, expect, it, onTestFinished } from 'vitest'
import { productRoot } from '../../shared/config.ts'
import { queriesOfRules } from '../support/promql.ts'

const folder = join(productRoot, 'ops/prometheus')
const rules = readFileSync(join(folder, 'astra-rules.yml'), 'utf8')
const alerts = [...queriesOfRules(rules).keys()]

function promtool(...args: string[]) {
  const { status, stdout, stderr } = spawnSync('promtool', args, { encoding: 'utf8' })
  return { status, said: `${stdout}${stderr}` }
}

const hasPromtool = promtool('--version').status === 0
const title = 'the alerts, evaluated by promtool'
const why = 'promtool is not here: apt-get install prometheus'

describe.skipIf(!hasPromtool)(hasPromtool ? title : `${title} (${why})`, () => {
  it('fire for the series that they are for, and for no others', () => {
    const { status, said } = promtool('test', 'rules', join(folder, 'astra-rules.test.yml'))
    expect(status, said).toBe(0)
  })

  it.each(alerts)('are each tried: without %s the rule tests fail', (alert) => {
    const copy = mkdtempSync(join(tmpdir(), 'astra-rules-'))
    onTestFinished(() => rmSync(copy, { recursive: true }))
    cpSync(folder, copy, { recursive: true })
    writeFileSync(
      join(copy, 'astra-rules.yml'),
      rules.replace(`alert: ${alert}\n`, 'alert: Other\n'),
    )
    const { status, said } = promtool('test', 'rules', join(copy, 'astra-rules.test.yml'))
    expect(status).toBe(1)
    expect(said).toContain(alert)
  })

  it('stand in a configuration that Prometheus takes', () => {
    const args = ['check', 'config', '--syntax-only', join(folder, 'prometheus.yml')]
    const { status, said } = promtool(...args)
    expect(status, said).toBe(0)
  })
})
