import type { Candidate } from './candidates.ts'
import type { FailingTests } from './failing-tests.ts'
import { functionsOf } from './functions.ts'
import type { Source } from './source.ts'

const UNREACHED = 0.35
const OUTSIDE_FUNCTIONS = 0.6
const PER_CALL = 0.07

/**
 * How likely the failing tests run a place, 0 to 1: functions that they name, then what those name,
 * and so on. Names stand for functions, so two functions of one name count as one.
 */
export function functionReach(
  sources: readonly Source[],
  tests: FailingTests,
): (candidate: Candidate, source: Source) => number {
  const mentions = new Map<string, Set<string>>()
  for (const source of sources) {
    for (const range of functionsOf(source)) {
      const body = source.code.slice(range.start, range.end)
      const names = mentions.get(range.name) ?? new Set()
      for (const name of body.match(/[A-Za-z_$][\w$]*/g) ?? []) names.add(name)
      mentions.set(range.name, names)
    }
  }
  const depths = new Map<string, number>()
  const visit = (names: Iterable<string>, depth: number) => {
    const fresh = [...names].filter((name) => mentions.has(name) && !depths.has(name))
    for (const name of fresh) depths.set(name, depth)
    return fresh
  }
  let wave = [...visit(tests.names, 0), ...visit(tests.fileNames, 1)]
  for (let depth = 1; wave.length > 0; depth += 1) {
    wave = visit(new Set(wave.flatMap((name) => [...(mentions.get(name) ?? [])])), depth)
  }
  return (candidate) => {
    if (candidate.functionName === null) return OUTSIDE_FUNCTIONS
    const depth =
      depths.get(candidate.functionName) ?? (isConstructor(candidate.functionName) ? 1 : undefined)
    return depth === undefined ? UNREACHED : Math.max(0.6, 1 - PER_CALL * depth)
  }
}

/** A constructor is run by the name of its class. */
const isConstructor = (name: string) => name === '__init__' || name === 'constructor'
