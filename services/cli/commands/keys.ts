import { createPublicKey } from 'node:crypto'
import { type Command, InvalidArgumentError } from 'commander'
import { UsageError } from '../../../shared/errors.ts'
import { readSigningKey, rotateSigningKey } from '../../../shared/keys/signing-key.ts'
import {
  keyIdSchema,
  listTrustedKeys,
  publicPemOf,
  readTrustedKey,
  removeTrustedKey,
  type TrustedKey,
  trustKey,
} from '../../../shared/keys/trusted-keys.ts'
import type { CliContext } from '../context.ts'
import { createTerminal, plain, type Terminal, table } from '../format/terminal.ts'
import { parsePublicKey } from '../parse-public-key.ts'
import { readText } from '../read-text.ts'

type Options = { json?: boolean }
type TrustOptions = Options & { name?: string }
/** What the commands work on: the folder of the keys and the terminal, no services. */
type Scope = { home: string; terminal: Terminal; interrupted: AbortSignal }

/** A public key in PEM has 113 bytes. */
const MAX_KEY_BYTES = 65_536

export function addKeysCommand(program: Command, context: CliContext): void {
  const keys = program.command('keys').description('manage the keys that sign and prove receipts')
  const scopeOf = (options: Options): Scope => ({
    home: context.config().home,
    terminal: createTerminal(options),
    interrupted: context.interrupted,
  })
  keys
    .command('list')
    .description('list the trusted keys, and say which one signs')
    .option('--json', 'print them as JSON')
    .action((options: Options) => list(scopeOf(options)))
  keys
    .command('rotate')
    .description('sign with a new key from now on; what earlier keys signed stays proved')
    .option('--json', 'print the key ids as JSON')
    .action((options: Options) => rotate(scopeOf(options)))
  keys
    .command('trust <file>')
    .description('trust a public key that was exported elsewhere; "-" reads it from stdin')
    .option('--name <text>', 'whose key it is', keyName)
    .option('--json', 'print what was done as JSON')
    .action((file: string, options: TrustOptions) =>
      trust(scopeOf(options), file === '-' ? file : context.path(file), options.name ?? null),
    )
  keys
    .command('distrust')
    .description('take the trust from a key: what it signed counts as unproved')
    .argument('<key>', 'a key id', keyId)
    .option('--json', 'print what was done as JSON')
    .action((key: string, options: Options) => distrust(scopeOf(options), key))
  keys
    .command('export')
    .description('print the public half of the signing key, or of another trusted key')
    .argument('[key]', 'a key id', keyId)
    .option('--json', 'print it as JSON, with its key id')
    .action((key: string | undefined, options: Options) =>
      exportPublic(scopeOf(options), key ?? null),
    )
}

function list({ home, terminal }: Scope): void {
  const signing = readSigningKey(home)?.keyId ?? null
  const keys = listTrustedKeys(home).map(({ key_id, source, name, since }) => ({
    key_id,
    signs: key_id === signing,
    source,
    name,
    since,
  }))
  terminal.printJson({ signing, keys })
  if (signing === null) terminal.note('no signing key yet: the first start of services makes one')
  else if (!keys.some((key) => key.signs)) {
    terminal.note(`the signing key ${signing} is not trusted: its receipts count as unproved`)
    terminal.note('`astra keys export | astra keys trust -` trusts it; `astra keys rotate` ends it')
  }
  if (keys.length === 0) return
  const rows = keys.map((key) => [
    key.key_id,
    key.signs ? 'yes' : '',
    key.since.slice(0, 16),
    key.source,
    key.name ?? '',
  ])
  terminal.print(table(['Key', 'Signs', 'Since', 'Source', 'Name'], rows))
}

function rotate({ home, terminal }: Scope): void {
  const { keyId, previous } = rotateSigningKey(home)
  terminal.printJson({ key_id: keyId, previous })
  terminal.print(`receipts are signed with key ${keyId} from now on`)
  if (previous === null) return
  terminal.note(`what key ${previous} signed stays proved; if it leaked, also`)
  terminal.note(`\`astra keys distrust ${previous}\``)
}

async function trust(
  { home, terminal, interrupted }: Scope,
  file: string,
  name: string | null,
): Promise<void> {
  if (file === '-' && process.stdin.isTTY) terminal.note('paste the public key, then Ctrl-D')
  const text = await readText(file, { maxBytes: MAX_KEY_BYTES, interrupted })
  const { key, added } = trustKey(home, parsePublicKey(text), { source: 'trusted', name })
  terminal.printJson({ key_id: key.key_id, name: key.name, added })
  const named = key.name === null ? '' : ` (${key.name})`
  terminal.print(`key ${key.key_id}${named} ${added ? 'is trusted now' : 'was trusted already'}`)
  if (added) terminal.note('compare this id with whoever made the key')
}

function distrust({ home, terminal }: Scope, keyId: string): void {
  if (readSigningKey(home)?.keyId === keyId) {
    throw new UsageError(`key ${keyId} signs here: new receipts would count as unproved`, {
      hint: 'run `astra keys rotate` first, then distrust it',
    })
  }
  if (!removeTrustedKey(home, keyId)) throw noSuchKey(keyId)
  terminal.printJson({ key_id: keyId, distrusted: true })
  terminal.print(`key ${keyId} is trusted no more: what it signed counts as unproved`)
  terminal.note('`astra memory verify` lists those records')
}

function exportPublic({ home, terminal }: Scope, keyId: string | null): void {
  const { key_id, public_key } = keyId === null ? signingPublic(home) : trustedKey(home, keyId)
  terminal.printJson({ key_id, public_key })
  terminal.print(public_key.trimEnd())
}

function signingPublic(home: string): Pick<TrustedKey, 'key_id' | 'public_key'> {
  const signing = readSigningKey(home)
  if (signing) {
    const public_key = publicPemOf(createPublicKey(signing.privateKey))
    return { key_id: signing.keyId, public_key }
  }
  throw new UsageError('there is no signing key yet', {
    hint: '`astra keys rotate` makes one, and so does the first start of services',
  })
}

function trustedKey(home: string, keyId: string): TrustedKey {
  const key = readTrustedKey(home, keyId)
  if (key) return key
  throw noSuchKey(keyId)
}

function noSuchKey(keyId: string): UsageError {
  return new UsageError(`there is no trusted key ${keyId}`, {
    hint: '`astra keys list` lists them',
  })
}

function keyId(text: string): string {
  const parsed = keyIdSchema.safeParse(text)
  if (parsed.success) return parsed.data
  throw new InvalidArgumentError('A key id is 16 digits from 0 to f; `astra keys list` lists them.')
}

function keyName(text: string): string {
  const name = plain(text).trim()
  if (name.length >= 1 && name.length <= 100 && !/[\n\t]/.test(name)) return name
  throw new InvalidArgumentError('It must have 1 to 100 characters on one line.')
}
