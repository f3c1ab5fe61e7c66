import type { Family } from '../rule.ts'
import { swappedArguments } from './arguments.ts'
import { awaitAndReturn } from './await-and-return.ts'
import { bounds } from './bounds.ts'
import { comparison } from './comparison.ts'
import { conversion } from './conversion.ts'
import { datesAndEncoding } from './dates-and-encoding.ts'
import { defaults } from './defaults.ts'
import { mutableDefault } from './mutable-default.ts'
import { nullGuards } from './null-guards.ts'
import { operators } from './operators.ts'
import { regularExpressions } from './regular-expressions.ts'
import { rounding } from './rounding.ts'
import { sharedState } from './shared-state.ts'
import { sorting } from './sorting.ts'
import { stringNormalisation } from './string-normalisation.ts'
import { truthiness } from './truthiness.ts'

/** The library of repairs. */
export const families: readonly Family[] = [
  stringNormalisation,
  bounds,
  nullGuards,
  truthiness,
  awaitAndReturn,
  mutableDefault,
  sharedState,
  sorting,
  datesAndEncoding,
  rounding,
  conversion,
  comparison,
  operators,
  defaults,
  swappedArguments,
  regularExpressions,
]
