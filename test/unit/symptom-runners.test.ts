import { readFileSync } from 'node:fs'
import { join } from 'node:path'
import { describe, expect, it } from 'vitest'
import { errorTypeOf, normaliseSymptom } from '../../shared/symptom.ts'

const folder = join(import.meta.dirname, '../fixtures/symptoms')
const read = (name: string) => readFileSync(join(folder, name), 'utf8')

/**
 * `<name>.txt` is what the runner printed, `<name>.symptom` what is left of it. gradle, dotnet, rspec,
 * phpunit and the two logs are written by hand as these print; the others were recorded.
 */
describe('the output of', () => {
  it.each([
    ['pytest', 'ConnectionRefusedError'],
    ['pytest-broken-file', 'ModuleNotFoundError'],
    ['pytest-colours', 'AssertionError'],
    ['pytest-line', 'ConnectionRefusedError'],
    ['pytest-native', 'KeyError'],
    ['unittest', 'EmptyCart'],
    ['node-20', 'AssertionError'],
    ['node-24', 'ERR_MODULE_NOT_FOUND'],
    ['vitest', 'Error'],
    ['vitest-report', 'AssertionError'],
    ['jest', 'TypeError'],
    ['jest-report', 'AssertionError'],
    ['mocha', 'AssertionError'],
    ['go', 'TestFailure'],
    ['go-verbose', 'TestFailure'],
    ['go-nil-map', 'panic'],
    ['go-nil-pointer', 'panic'],
    ['go-index', 'panic'],
    ['go-deadlock', 'fatal error'],
    ['go-build', 'TestFailure'],
    ['cargo', 'Error'],
    ['cargo-build', 'E0308'],
    ['maven', 'NullPointerException'],
    ['gradle', 'InvalidDefinitionException'],
    ['dotnet', 'InvalidOperationException'],
    ['rspec', 'ActiveRecord::ConnectionTimeoutError'],
    ['phpunit', 'Error'],
    ['python-service-log', 'RuntimeError'],
    ['spring-log', 'HttpMessageNotWritableException'],
  ])('%s is reduced to its failures, and its error is %s', (name, errorType) => {
    const output = read(`${name}.txt`)
    expect(`${normaliseSymptom(output)}\n`).toBe(read(`${name}.symptom`))
    expect(errorTypeOf(output)).toBe(errorType)
  })
})
