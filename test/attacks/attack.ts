import type { Result } from '../../shared/contracts/catalog.ts'
import type { Scene } from './scene.ts'

/** A program that the hostile code itself is written for, or what the machine has to allow. */
export type Need = 'python' | 'pytest' | 'go' | 'perl' | 'control groups'

export type Attack = {
  /** What is kept from happening, as a sentence. */
  name: string
  stoppedBy: string
  /** Where there is no way to tell this attack from a repair: one plain sentence that says so. */
  notExcludable?: string
  /** A folder of `fixtures`: the workspace with the hostile code. */
  project: string
  /** Edits of a hostile patch by path, each a file of `fixtures/patches`: its proof is asked for. */
  patch?: Readonly<Record<string, string>>
  needs?: readonly Need[]
  limits?: Limits
  /** True where it does no harm outside a sandbox: there it has to succeed, or the check is blind. */
  harmless?: true
  /** Whether it needs a machine that is otherwise: see `surroundings.ts`. */
  within?: 'terminal' | 'a session with a key' | 'no control groups'
  /** Looks at the machine while the attack runs; what it says was reached. */
  watch?(scene: Scene, mark: string, ended: AbortSignal): Promise<string[]>
  /** What the attack reached; nothing when it was stopped. */
  reached(evidence: Evidence): string[] | Promise<string[]>
}

export type Limits = {
  memoryMb?: number
  diskMb?: number
  processes?: number
  seconds?: number
  outputBytes?: number
}

/** For all attacks that ask for no others: what a bomb could take stays small. */
export const limits = {
  memoryMb: 300,
  diskMb: 64,
  processes: 64,
  seconds: 20,
  outputBytes: 1_000_000,
} as const satisfies Limits

export type Evidence = {
  scene: Scene
  /** In the command line of every process and the name of every file that the attack makes. */
  mark: string
  /** The snapshot that the tests were copied from. */
  base: string
  result: Result<'tests', 'baseline'> | Result<'tests', 'verify'>
  output: string
  /** What the hostile code says of what it tried. */
  tried: ReadonlyMap<string, Try>
  ms: number
}

export type Try = { done: boolean; said: string }

/** Lines of `fixtures/tried.mjs` and `fixtures/tried.py`. */
export function readTries(output: string): Map<string, Try> {
  const lines = output.matchAll(/^.*?tried (.+?): (done|refused) ?(.*)$/gm)
  return new Map(
    [...lines].map(([, name = '', how, said = '']) => [name, { done: how === 'done', said }]),
  )
}

/** What was not refused. An attack that was not tried proves nothing, and counts as reached. */
export function notRefused(evidence: Evidence, names: readonly string[]): string[] {
  return names.flatMap((name) => {
    const found = evidence.tried.get(name)
    if (!found) return [`${name} was not tried: ${whatHappened(evidence)}`]
    return found.done ? [`${name}: ${found.said}`] : []
  })
}

/** That an attack went as far as it had to. */
export function notTried(evidence: Evidence, names: readonly string[]): string[] {
  return names.flatMap((name) =>
    evidence.tried.get(name)?.done ? [] : [`${name} was not done: ${whatHappened(evidence)}`],
  )
}

/** Whether the tests were ended for this reason, and for no other. */
export function notUnusable({ result }: Evidence, reason: string, text = ''): string[] {
  const isSo =
    'kind' in result &&
    result.kind === 'unusable' &&
    result.reason === reason &&
    result.message.includes(text)
  return isSo ? [] : [`the tests did not end as ${reason}: ${JSON.stringify(result).slice(0, 500)}`]
}

/** Whether a forged repair was refused for one of these reasons. */
export function notUnproved({ result }: Evidence, reasons: readonly string[]): string[] {
  const isSo =
    'confirmed' in result &&
    !result.confirmed &&
    reasons.some((reason) => reason === result.reason) &&
    result.failing_before.length > 0
  return isSo ? [] : [`the patch was not refused so: ${JSON.stringify(result).slice(0, 500)}`]
}

function whatHappened({ result, output }: Evidence): string {
  return output.slice(-500) || JSON.stringify(result).slice(0, 500)
}
