import { describe, expect, it } from 'vitest'
import { parseCommandLine } from '../../services/test-runner/discovery/command-line.ts'
import { runners } from '../../services/test-runner/runners/all.ts'

/** The arguments of a line's command for these files, without those that are always there. */
function argvFor(line: string, files: string[] | null) {
  const command = parseCommandLine(line)
  if (!command) throw new Error(`${line} is no test command`)
  const { argv } = runners[command.runner]
  const asked = { reportFile: '/report', reporters: '/reporters' }
  const always = [...argv({ ...asked, args: [], files: null })]
  const all = argv({ ...asked, args: command.args, files })
  const before = all.findIndex((arg, index) => arg !== always[index])
  const behind = all.toReversed().findIndex((arg, index) => arg !== always.at(-1 - index))
  return all.slice(before, all.length - behind)
}

describe('the command of some files', () => {
  it.each([
    [
      'pytest tests -q -c conf/pytest.ini -k "a or b" -m slow -p no:cacheprovider',
      ['-q', '-c', 'conf/pytest.ini', '-k', 'a or b', '-m', 'slow', '-p', 'no:cacheprovider'],
    ],
    [
      'pytest --rootdir=sub -o a=b tests/test_b.py::test_one -- tests',
      ['--rootdir=sub', '-o', 'a=b'],
    ],
    [
      'node --test --import tsx -r ./setup.js --test-name-pattern total --test-shard 1/2 "test/**/*.js"',
      ['--import', 'tsx', '-r', './setup.js', '--test-name-pattern', 'total'],
    ],
    [
      'vitest run -c v.config.ts --project unit -t total src/cart',
      ['-c', 'v.config.ts', '--project', 'unit', '-t', 'total'],
    ],
    [
      'mocha --require tsx --spec a.js --spec=b.js -t 5000 "test/*.js"',
      ['--require', 'tsx', '-t', '5000'],
    ],
    [
      'go test -run TestA -tags integration ./price ./cart',
      ['-run', 'TestA', '-tags', 'integration'],
    ],
  ])('%s keeps its options and their values', (line, options) => {
    expect(argvFor(line, ['x/new_test', '-odd'])).toEqual([...options, 'x/new_test', './-odd'])
  })

  it('of jest names them by their paths', () => {
    expect(
      argvFor('jest --config=j.json --testPathPattern cart -t total src', ['a.test.js']),
    ).toEqual(['--runTestsByPath', '--config=j.json', '-t', 'total', 'a.test.js'])
  })

  it('of go keeps what is for the tests themselves behind the packages', () => {
    expect(argvFor('go test ./... -args -v x', ['example.com/shop'])).toEqual([
      'example.com/shop',
      '-args',
      'x',
    ])
  })

  it('of unittest is for our module, which knows the files of what it finds', () => {
    const files = ['tests/test_a.py']
    expect(argvFor('python -m unittest discover -s tests', files)).toEqual([
      JSON.stringify(files),
      'discover',
      '-s',
      'tests',
    ])
  })
})

describe('flags that end a run at the first failure', () => {
  it.each([
    ['pytest -x --maxfail 2 --maxfail=1 --exitfirst --stepwise tests', 'pytest tests'],
    ['python -m unittest -f tests.test_a', 'python -m unittest tests.test_a'],
    ['vitest run --bail 1 src', 'vitest src'],
    ['vitest --bail=1', 'vitest'],
    ['jest -b src --bail 3 --bail', 'jest src'],
    ['mocha --bail -b test', 'mocha test'],
    ['go test -failfast --failfast=true ./...', 'go test ./...'],
  ])('%s becomes %s', (line, display) => {
    expect(parseCommandLine(line)?.display).toBe(display)
  })
})
