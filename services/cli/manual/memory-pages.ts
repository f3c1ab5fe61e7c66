import type { Pages } from './page.ts'

const id = '0b6f3a52-7a53-5c5e-9a80-6f4f6f8a0c11'
const other = '6d1f0a3e-1111-5222-8333-444455556666'

export const memoryPages: Pages = {
  memory: {
    details: 'Records of proved fixes, which searches of later runs are answered with.',
    examples: [['astra memory search "TypeError: x is undefined"', 'what a run would find']],
  },
  'memory list': {
    details: `What is given is asked for together: a record is listed when all of it holds.

States, of which a record has the first that holds:
  revoked     taken out of every search by \`astra memory revoke\`
  superseded  another record stands for it
  expired     older than ASTRA_MEMORY_DAYS
  live        searches answer with it; \`astra memory verify\` tells which records nothing proves`,
    examples: [
      ['astra memory list --error-type TypeError --state live', 'fixes of one kind of error'],
      ['astra memory list --session run-one', 'what one run stored'],
      ['astra memory list --repository example.org/team/app --limit 500', 'of one repository'],
      ['astra memory list --state revoked --json', 'what was taken out, for a program'],
    ],
    json: '`records`, each with its state, `proved` and counters, and `total`.',
  },
  'memory show': {
    examples: [[`astra memory show ${id}`, 'the fix, its evidence and its receipt']],
    json: 'The record, with `unproved` (why nothing proves it, or null) and `expired`.',
  },
  'memory search': {
    details: `It is asked as a run in this folder would ask: where the memory is not shared, only fixes of its
repository are found, and a fix of this repository whose place in the code is gone is marked stale.`,
    examples: [
      ['astra memory search "TypeError: cannot read properties of undefined"', 'by the failure'],
      ['astra memory search "KeyError: user" --error-type KeyError --top-k 10', 'more of one kind'],
    ],
    json: '`matches`, each with `score`, `relevance`, `speaks_for` and `speaks_against`, and `searched`: among how many.',
  },
  'memory verify': {
    details: `A record is proved when a trusted key (astra keys list) signed a receipt of exactly its run, outcome,
runner, repository and failing tests, and its fix, error type and files are what was stored.`,
    examples: [
      ['astra memory verify', 'check all, and list those that nothing proves'],
      ['astra memory verify --limit 0 --json', 'the counts alone'],
    ],
    json: '`checked`, `proved`, `unproved` (how many for which reason) and `records`: those, each with why.',
    exit: [
      ['0', 'every record is proved'],
      ['3', 'some record is unproved'],
    ],
  },
  'memory delete': {
    details: 'What it stood for is found again. To keep it listed, revoke it instead.',
    examples: [[`astra memory delete ${id}`, 'remove one record for good']],
    json: '`memory_id`, `deleted`, and `brought_back`: the records that it stood for.',
  },
  'memory revoke': {
    details: 'The records stay listed; what they stood for stays out with them.',
    examples: [
      [`astra memory revoke ${id}`, 'one record'],
      ['astra memory revoke --session run-one', 'all that a run stored'],
      ['astra memory revoke --repository example.org/team/app', 'all of a repository'],
    ],
    json: 'What was named, `found`, `changed`, and `stands_for`: what stays out with them.',
  },
  'memory restore': {
    examples: [
      [`astra memory restore ${id}`, 'take a revocation back'],
      ['astra memory restore --session run-one', 'by the name that it was made with'],
    ],
    json: 'What was named, `found`, `changed`, and `superseded`: what stays out all the same.',
  },
  'memory supersede': {
    examples: [
      [`astra memory supersede ${id} ${other}`, 'the second stands for the first'],
      [`astra memory supersede ${id} --undo`, 'it stands for itself again'],
    ],
    json: '`memory_id`, `by` and `changed`.',
  },
  'memory export': {
    details:
      'One record a line, by id, with sorted keys: what differs between two exports differs in the memory.',
    examples: [
      ['astra memory export memory.jsonl', 'all records'],
      ['astra memory export - --vectors | gzip > memory.jsonl.gz', 'with vectors, to a pipe'],
    ],
    json: '`file`, `exported` and `unreadable`; not with `-`.',
    exit: [
      ['0', 'all records are written'],
      ['3', 'some record cannot be read; all others are written'],
    ],
  },
  'memory import': {
    details: `Records keep their ids. What is there already stays as it is, so an import that was cut off is made
again as a whole. Receipts are checked: without one of a trusted key (astra keys list) a record is
taken in as unproved. Proved near-duplicates merge as when they are stored. Secrets are taken out of
texts, and a record that cannot be without one is refused. Vectors are taken as they are; import them
only with records that you trust.`,
    examples: [
      ['astra memory import memory.jsonl', 'take in what another installation exported'],
      ['gunzip -c memory.jsonl.gz | astra memory import - --json', 'from a pipe'],
    ],
    json: '`imported`, `unproved`, `present`, and `refused`: lines with why.',
    exit: [
      ['0', 'every line is in the memory'],
      ['3', 'some lines were refused, each is named; all others are in the memory'],
    ],
  },
  keys: {
    details: `Receipts of proved fixes are signed with the signing key, and count where its public half is trusted.
These commands need no services and take effect at once.`,
    examples: [
      ['astra keys rotate && astra keys distrust cc6954bda0b12287', 'after a key leaked'],
      ['astra keys export > mine.pem', 'for a colleague, who trusts it there'],
    ],
    files: [
      ['ASTRA_HOME/keys/signing.pem', 'the private key that signs'],
      ['ASTRA_HOME/keys/trusted', 'the public keys whose receipts count'],
    ],
  },
  'keys list': {
    examples: [['astra keys list', 'which keys are trusted, and which one signs']],
    json: '`signing` (a key id or null) and `keys`.',
  },
  'keys rotate': {
    examples: [['astra keys rotate', 'sign with a new key from now on']],
    json: '`key_id` and `previous`.',
  },
  'keys trust': {
    examples: [
      ['astra keys trust their.pem --name "build server"', 'believe what another one signed'],
    ],
    json: '`key_id`, `name`, and `added`: false where it was trusted already.',
  },
  'keys distrust': {
    examples: [['astra keys distrust cc6954bda0b12287', 'what it signed counts as unproved']],
    json: '`key_id`, and `distrusted`: true.',
  },
  'keys export': {
    examples: [['astra keys export > mine.pem', 'the public half of the signing key']],
    json: '`key_id` and `public_key`.',
  },
}
