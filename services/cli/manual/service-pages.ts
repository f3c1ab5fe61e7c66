import type { Pages } from './page.ts'

export const servicePages: Pages = {
  up: {
    details: `Other commands start the services when they need them, and end them afterwards; \`up\` keeps them.
Ctrl-C ends them unless another command still uses them. With --only this machine adds processes to a
fleet: REDIS_URL says where that is, and nothing else is started here.`,
    examples: [
      ['astra up', 'everything on this machine'],
      ['astra up --embedders 2 --test-runners 2', 'more processes of some services'],
      [
        'astra up --only test-runner,embedder --test-runners 4',
        'what one more machine does for a fleet',
      ],
    ],
    json: '`home`, `logs`, `redis` and `processes`, when all are ready.',
    environment: [['REDIS_URL', 'a Redis of your own, in place of the private one']],
  },
  doctor: {
    details: `Checks Node, the data folder, Redis, model, store, keys and sandbox, and changes nothing. With --fix it
mends what it can, and says what before it does: rights of our own files, what a killed supervisor or
test-runner left behind, the damaged end of Redis' append-only file (a copy is kept beside it). It
deletes no data. Missing programs it names with the command that installs them; it runs that only as
root and with --yes.`,
    examples: [
      ['astra doctor', 'what is wrong, and what to do'],
      ['astra doctor --fix', 'mend what can be mended without a loss'],
      ['astra doctor --fix --yes --json', 'also install what is missing, as root'],
    ],
    json: '`healthy`, `checks` (`name`, `result`, `found`, `advice`), and with --fix `repairs` (`check`, `does`, `done`, `problem`).',
    exit: [
      ['0', 'nothing fails; there may be warnings'],
      ['1', 'a check fails, after --fix too'],
    ],
  },
  backup: {
    details: `Runs and stores go on meanwhile. The file holds the memory as it is at one moment, the ledger with its
evidence, the ended runs with their patches and transcripts, and the keys, the private one that signs
receipts among them: keep it as you keep that key. Queues and runs that have not ended are not in it, nor
.env. It is a tar in zstd; \`tar --zstd -xOf FILE manifest.json\` says what is in it. When it fails or is
interrupted there is no file, or the one of before.`,
    examples: [
      ['astra backup astra-backup.tar.zst', 'while services run and runs go on'],
      ['astra backup - | ssh host "cat > backup.tar.zst"', 'to another machine'],
    ],
    json: '`file`, `bytes`, and the manifest of the backup.',
  },
  restore: {
    details: `Services have to be ended first. Everything is checked before anything is touched: what is damaged, cut
off or of a newer version is refused. Then all of it takes its place, or nothing; cut off in the middle,
the next start of services or the same command ends it. With --force what is there is kept in
ASTRA_HOME/replaced-TIME. The ledger afterwards knows what the backup, the present ledger and the evidence
of both know, so that nothing that was spent is forgotten. Runs that had not ended are not gone on with.
A backup of a server's records is imported: what is there stays as it is.`,
    examples: [
      ['astra restore astra-backup.tar.zst', 'into an empty installation'],
      ['astra restore astra-backup.tar.zst --force', 'keep aside what is there'],
    ],
    json: '`file`, `created_at`, `counts`, `replaced`, `spent` and `imported`.',
    exit: [
      ['2', 'refused: wrong usage, a damaged file, services that run, data without --force'],
      ['3', 'it is restored, but some records were refused by the import'],
    ],
  },
  smoke: {
    details: 'Between its two halves restart the services, to see that the record outlives them.',
    examples: [['astra smoke store', 'the first half; it prints what the second one needs']],
  },
  'smoke store': {
    examples: [['astra smoke store --json', 'store a temporary record and find it']],
    json: '`memory_id`, `session_id` and `score`.',
  },
  'smoke verify': {
    examples: [
      ['astra smoke verify --memory-id 0b6f3a52-7a53-5c5e-9a80-6f4f6f8a0c11', 'and delete it'],
    ],
    json: '`memory_id`, `persisted` and `deleted`.',
  },
}
