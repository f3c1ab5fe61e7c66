import { mkdirSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { createContext } from '../services/cli/context.ts'
import { markdownManual, troffManual } from '../services/cli/manual/whole-manual.ts'
import { createProgram } from '../services/cli/program.ts'
import { productRoot } from '../shared/config.ts'
import { productVersion } from '../shared/product-version.ts'

/** Writes docs/cli.md and ops/man/astra.1 anew from the program; a test says when they are old. */
const program = createProgram(createContext({}, '/', new AbortController().signal))
mkdirSync(join(productRoot, 'ops/man'), { recursive: true })
writeFileSync(join(productRoot, 'docs/cli.md'), markdownManual(program))
writeFileSync(join(productRoot, 'ops/man/astra.1'), troffManual(program, productVersion()))
