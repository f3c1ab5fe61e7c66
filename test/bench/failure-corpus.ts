import type { MemoryRecord } from '../../shared/contracts/record.ts'
import type { SigningKey } from '../../shared/keys/signing-key.ts'
import { sampleReceipt, sampleRecord } from '../support/memory.ts'

const VOCABULARY = 60_000
export const ERROR_TYPES = 40
const SYLLABLES = ['ra', 'to', 'ne', 'shi', 'lo', 'ka', 'mer', 'dun', 'pol', 'vex', 'qui', 'zan']

/** Numbers of 0 to 1 that follow from `seed` alone. */
function randomFrom(seed: number): () => number {
  let state = (seed * 2_654_435_761) | 0
  return () => {
    state = (state + 0x6d2b79f5) | 0
    let mixed = Math.imul(state ^ (state >>> 15), state | 1)
    mixed ^= mixed + Math.imul(mixed ^ (mixed >>> 7), mixed | 61)
    return ((mixed ^ (mixed >>> 14)) >>> 0) / 2 ** 32
  }
}

function spelt(rank: number): string {
  let word = ''
  for (let rest = rank + 12; rest > 0; rest = Math.floor(rest / 12)) word += SYLLABLES[rest % 12]
  return word
}

/** By Zipf's law: the word of rank r comes 1/r times as often as the first one. */
function wordFrom(random: () => number): string {
  const rank = () => Math.floor(Math.exp(random() * Math.log(VOCABULARY)))
  const word = spelt(rank())
  const form = random()
  // Every tenth is a compound, whose parts count as words too.
  if (form < 0.05) return `${word}_${spelt(rank())}`
  return form < 0.1 ? `${word}${spelt(rank()).replace(/^./, (c) => c.toUpperCase())}` : word
}

function textFrom(random: () => number, length: number): string {
  const words: string[] = []
  for (let size = 0; size < length; ) {
    const word = wordFrom(random)
    words.push(word)
    size += word.length + 1
  }
  return words.join(' ')
}

export const errorTypeOf = (seed: number) => `${spelt((seed * 7) % ERROR_TYPES)}Error`

/** A record of the size of real ones: a symptom of 1 to 2 kB, a diff of the same, a receipt. */
export function failureRecord(seed: number, key: SigningKey): MemoryRecord {
  const random = randomFrom(seed)
  const symptom = textFrom(random, 1_000 + 1_000 * random())
  const repository_id = `repository-${seed % 200}`
  return sampleRecord({
    session_id: `run-${seed}`,
    error_type: errorTypeOf(seed),
    symptom,
    symptom_raw: `${symptom}\n${textFrom(random, 600)}`,
    fix_description: textFrom(random, 300),
    diff: textFrom(random, 1_500),
    repository_id,
    receipt: sampleReceipt(key, { run_id: `run-${seed}`, repository_id }),
  })
}

/** What a run asks when the failure of record `seed` comes again: a sentence, and its symptom. */
export function recurrenceOf(seed: number): string {
  const random = randomFrom(seed)
  const symptom = textFrom(random, 1_000 + 1_000 * random())
  const words = symptom.split(' ').map((word) => (random() < 0.2 ? wordFrom(random) : word))
  return `${textFrom(random, 150)}\n${words.join(' ')}`
}

/** What a person asks: one line, of which many words are common. */
export function lineOf(seed: number): string {
  return textFrom(randomFrom(-1 - seed), 60)
}
