import { readFileSync } from 'node:fs'
import { join } from 'node:path'
import type { Command } from 'commander'
import { describe, expect, it } from 'vitest'
import { createContext } from '../../services/cli/context.ts'
import { pathOf } from '../../services/cli/manual/format-help.ts'
import { pages } from '../../services/cli/manual/pages.ts'
import { markdownManual, troffManual } from '../../services/cli/manual/whole-manual.ts'
import { createProgram } from '../../services/cli/program.ts'
import { productRoot } from '../../shared/config.ts'
import { productVersion } from '../../shared/product-version.ts'

const newProgram = () => createProgram(createContext({}, '/', new AbortController().signal))

function withSubcommands(command: Command): Command[] {
  return [command, ...command.commands.flatMap(withSubcommands)]
}
const nameOf = (command: Command) => pathOf(command).join(' ')
const all = withSubcommands(newProgram())
const leaves = all.filter((command) => command.commands.length === 0)

/** The parts of a line of shell that run astra, each as its words. */
function astraCalls(line: string): string[][] {
  return line
    .split(/\||&&|;|\$\(|\)/)
    .map((part) => part.replace(/[<>] ?\S+/g, ' '))
    .map((part) =>
      [...part.matchAll(/"([^"]*)"|(\S+)/g)].map(([, quoted, bare]) => quoted ?? bare ?? ''),
    )
    .filter(([first]) => first === 'astra')
    .map(([, ...words]) => words)
}

/** The program with commands that do nothing, and what it was called with. */
function parse(words: readonly string[]): string | null {
  const program = newProgram()
  let called: string | null = null
  for (const command of withSubcommands(program)) {
    command.configureOutput({ writeOut: () => {}, writeErr: () => {} })
    if (command.commands.length === 0) {
      command.action(() => {
        called = nameOf(command)
      })
    }
  }
  program.parse(words, { from: 'user' })
  return called
}

describe('the manual', () => {
  it('has a page for each command, and no page of a command that is gone', () => {
    expect(Object.keys(pages).sort()).toEqual(all.map(nameOf).sort())
  })

  it.each(all.map((command) => [nameOf(command), command] as const))(
    'of `astra %s` has examples that the program takes',
    (name) => {
      const calls = pages[name]?.examples.flatMap(([line]) => astraCalls(line)) ?? []
      expect(calls.length).toBeGreaterThan(0)
      const called = calls.map(parse)
      const command = all.find((each) => nameOf(each) === name)
      // A command that has others is shown by these.
      if (command?.commands.length === 0) expect(called).toContain(name)
    },
  )

  it('stands in docs/cli.md and in ops/man/astra.1 as the program has it', () => {
    const read = (file: string) => readFileSync(join(productRoot, file), 'utf8')
    const hint = 'node ops/run.mjs ops/write-manual.ts writes it anew'
    expect(read('docs/cli.md') === markdownManual(newProgram()), hint).toBe(true)
    const troff = troffManual(newProgram(), productVersion())
    expect(read('ops/man/astra.1') === troff, hint).toBe(true)
  })
})

describe('--json', () => {
  /** And why they have none. */
  const without = {
    completion: 'its output is a script for a shell',
    help: 'it is for people; docs/cli.md says what the others print',
  }

  it.each(leaves.map((command) => [nameOf(command), command] as const))(
    'is an option of `astra %s`, and the manual says what it prints',
    (name, command) => {
      const option = command.options.find(({ long }) => long === '--json')
      if (name in without) expect(option).toBe(undefined)
      else {
        expect(option?.description).toBeTruthy()
        expect(pages[name]?.json).toBeTruthy()
      }
    },
  )
})
