import { describe, expect, it } from 'vitest'
import type { Candidate } from '../../services/memory-store/backend.ts'
import { evidenceOf } from '../../services/memory-store/retrieval/evidence.ts'
import { type Asked, compare } from '../../services/memory-store/retrieval/features.ts'
import { answersOf, judge, nearest } from '../../services/memory-store/retrieval/judge.ts'
import {
  fittedModel,
  probabilityOf,
  type RelevanceModel,
} from '../../services/memory-store/retrieval/relevance-model.ts'
import type { MemoryRecord } from '../../shared/contracts/record.ts'
import { sampleRecord } from '../support/memory.ts'

function candidate(
  changes: Partial<MemoryRecord>,
  cosine = { symptom: 0.5, fix: 0.3 },
  lexical = 1,
): Candidate {
  const session_id = `run-${changes.symptom}`
  const symptom_raw = changes.symptom ?? ''
  return { record: sampleRecord({ session_id, symptom_raw, ...changes }), cosine, lexical }
}

const pool = 'QueuePool limit of size 5 reached, connection timed out in acquireSession'
const asked = (text: string, errorType: string | null = null): Asked => ({
  texts: [text],
  raw: [text],
  errorType,
})

function featuresOf(question: Asked, ...candidates: Candidate[]) {
  const first = compare(question, candidates).compared[0]?.views[0]
  if (!first) throw new Error('nothing was compared')
  return first
}

describe('features', () => {
  it('are whole for a text met again, and none for a text without a word in common', () => {
    const again = featuresOf(asked(pool), candidate({ symptom: pool, fix_description: 'x' }))
    expect(Math.exp(again.quoted)).toBeCloseTo(1.1)
    expect(again.words).toBeGreaterThan(0.4)
    expect(again.coverage).toBeGreaterThan(0.5)
    expect(again.standout).toBeGreaterThan(5)
    const other = featuresOf(asked('naïve datetime'), candidate({ symptom: pool }))
    expect(other).toMatchObject({ words: 0, coverage: 0, quoted: Math.log(0.1) })
    expect(other.standout).toBeLessThan(0)
  })

  it('meet a name in another spelling, and a word in another form', () => {
    const spelt = featuresOf(asked('acquire_session'), candidate({ symptom: pool }))
    const bent = featuresOf(asked('two connections acquired'), candidate({ symptom: pool }))
    expect(spelt.words).toBeGreaterThan(0.3)
    expect(bent.words).toBeGreaterThan(0.2)
  })

  it('count a rare word for more than one that half of all failures have', () => {
    const rare = featuresOf(asked('acquireSession python'), candidate({ symptom: pool }))
    const usual = featuresOf(
      asked('python with the asyncpg'),
      candidate({ symptom: 'it is for the with of and' }),
    )
    expect(rare.coverage).toBeGreaterThan(usual.coverage)
  })

  it.each([
    ['TypeError: x', 1],
    ['keyerror', -1],
    [null, 0],
  ])('compare the error type %s by its name', (errorType, agreement) => {
    const features = featuresOf(asked(pool, errorType), candidate({ error_type: 'TypeError' }))
    expect(features.errorType).toBe(agreement)
  })

  it('see nothing in common in what two runners print around any failure', () => {
    const node = (message: string) => `${message}
  AssertionError [ERR_ASSERTION]: Expected values to be strictly equal:
      at TestContext.<anonymous> (test)
    actual: 4,
    expected: 1,
    operator: 'strictEqual',`
    const features = featuresOf(
      asked(node('makes one attempt')),
      candidate({
        symptom: node('rounds the invoice'),
        error_type: 'AssertionError',
        fix_description: 'Rounded',
      }),
    )
    expect(features).toMatchObject({ words: 0, coverage: 0, quoted: Math.log(0.1) })
  })

  it('tell what one line of a record says again from what is spread over it', () => {
    const record = candidate({ symptom: `${pool}\nlimits.check opens its own session` })
    const quoted = featuresOf(asked('QueuePool limit of size 9 reached, timed out'), record)
    const spread = featuresOf(asked('QueuePool limit: check opens another session'), record)
    expect(quoted.quoted).toBeGreaterThan(spread.quoted)
  })

  it('compare the raw symptom of a record, and the normalised one where it has no raw', () => {
    const raw = { symptom: 'it fails', symptom_raw: `it fails\n${pool}` }
    const both = featuresOf(asked(pool), candidate(raw))
    const neither = featuresOf(asked(pool), candidate({ symptom: 'it fails' }))
    const old = featuresOf(asked(pool), candidate({ symptom: pool, symptom_raw: '' }))
    expect([both.words, old.words].every((words) => words > 0.4)).toBe(true)
    expect(neither.words).toBe(0)
  })

  it('count a failure that is among the ordinary ones not as its own rival', () => {
    const { standout } = featuresOf(asked(pool), candidate({ symptom: pool }))
    const twice = featuresOf(asked(pool), candidate({ symptom: pool }), candidate({ symptom: 'x' }))
    expect(twice.standout).toBeCloseTo(standout, 0)
  })

  it('take the query and the observed symptom for two sights of one failure', async () => {
    const two = { texts: ['it broke', pool], raw: ['it broke', pool], errorType: null }
    const [judged] = (await judge(two, [candidate({ symptom: pool })], fittedModel)).judged
    const [alone] = (await judge(asked(pool), [candidate({ symptom: pool })], fittedModel)).judged
    expect(judged?.kinship).toBe(alone?.kinship)
  })
})

describe('the decision', () => {
  const ranking = { symptom: 10, fix: 0, words: 0, coverage: 0, errorType: 0 }
  const model: RelevanceModel = {
    ranking,
    kinship: { bias: -2, symptom: 0, fix: 4, coverage: 0, standout: 0, errorType: 0 },
    rightness: { bias: -2, standout: 0, quoted: 0, margin: 2 },
    rival: 4,
    thresholds: { similar: 0.5, same: 0.7 },
  }
  const near = (cosine: number, name: string) =>
    candidate({ symptom: name }, { symptom: cosine, fix: cosine })
  const verdicts = async (...candidates: Candidate[]) => {
    const { judged } = await judge(asked(pool), candidates, model)
    return answersOf(judged, model.thresholds).map(
      ({ candidate, relevance }) => `${candidate.record.symptom} ${relevance}`,
    )
  }

  it('is the same failure for one that stands out, similar for its rival, none below', async () => {
    expect(await verdicts(near(0.6, 'b'), near(0.9, 'a'), near(0.4, 'c'))).toEqual([
      'a same',
      'b similar',
    ])
  })

  it('is similar for two that are about as near: one of them is the wrong one', async () => {
    expect(await verdicts(near(0.9, 'a'), near(0.88, 'b'))).toEqual(['a similar', 'b similar'])
  })

  it('shows beside the nearest what is about as near, and nothing where that is no answer', async () => {
    expect(await verdicts(near(0.55, 'a'), near(0.45, 'b'), near(0.3, 'c'))).toEqual([
      'a similar',
      'b similar',
    ])
    expect(await verdicts(near(0.45, 'b'), near(0.4, 'c'))).toEqual([])
  })

  it('measures the only record of a memory against an ordinary wrong one', async () => {
    expect(await verdicts(near(0.9, 'a'))).toEqual(['a same'])
    expect(await verdicts(near(0.52, 'a'))).toEqual(['a similar'])
    expect(await verdicts()).toEqual([])
  })

  it('turns log-odds into probabilities', () => {
    expect([probabilityOf(0), probabilityOf(Math.log(3)), probabilityOf(-800)]).toEqual([
      0.5,
      expect.closeTo(0.75),
      0,
    ])
  })
})

it('compares those that are good in several lists before one that is first in one', () => {
  const first = candidate({ symptom: 'first' }, { symptom: 0.9, fix: 0 }, 0)
  const both = candidate({ symptom: 'both' }, { symptom: 0.8, fix: 0.7 }, 5)
  const last = candidate({ symptom: 'last' }, { symptom: 0.1, fix: 0.1 }, 0)
  expect(nearest([first, last, both], 2)).toEqual([both, first])
})

describe('what speaks for and against', () => {
  const evidence = async (question: Asked, ...candidates: Candidate[]) => {
    const { judged, weight } = await judge(question, candidates, fittedModel)
    const [best] = judged
    if (!best) throw new Error('nothing was judged')
    return evidenceOf(question, best, { weight, rivals: judged, proved: true })
  }

  it('names the telling words that are shared and those that are missing', async () => {
    const { for: pro, against } = await evidence(
      asked('acquireSession hangs while migrateLedger runs'),
      candidate({ symptom: pool }),
    )
    expect(pro).toEqual([expect.stringMatching(/^shared words: .*acquiresession/)])
    expect(against).toEqual([expect.stringMatching(/^not in the record: .*migrateledger/)])
  })

  it('names another error type, another language and a rival that is about as near', async () => {
    const stored = { symptom: pool, error_type: 'TimeoutError', file_paths: ['app/db.py'] }
    const twin = candidate({ ...stored, session_id: 'twin' })
    const { against } = await evidence(
      asked(`${pool} (src/db.ts)`, 'KeyError'),
      candidate(stored),
      twin,
    )
    expect(against).toEqual(
      expect.arrayContaining([
        'other error type: "TimeoutError", not "KeyError"',
        'other language: Python, not JavaScript or TypeScript',
        `about as near: memory ${twin.record.memory_id}`,
      ]),
    )
  })
})
