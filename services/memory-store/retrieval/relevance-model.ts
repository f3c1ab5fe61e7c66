import type { Features } from './features.ts'
import weights from './weights.json' with { type: 'json' }

/**
 * Three small models, fitted by test/eval/fit on test/eval/corpus. `ranking` orders the candidates.
 * `kinship` says by absolute evidence whether a candidate has to do with the failure at all.
 * `rightness` says whether its fix is the right one: near alone is not enough, it must also stand
 * out, from other failures and from its best rival, because a near miss shares words and error type.
 */
export type RelevanceModel = {
  ranking: Pick<Features, RankingFeature>
  kinship: Pick<Features, KinshipFeature> & { bias: number }
  rightness: Record<RightnessFeature, number> & { bias: number }
  /** The ranking score of an ordinary wrong candidate: the rival where a memory has no better. */
  rival: number
  /** `similar` is the least kinship, `same` the least rightness; both are probabilities. */
  thresholds: { similar: number; same: number }
}

export const rankingFeatures = ['symptom', 'fix', 'words', 'coverage', 'errorType'] as const
export const kinshipFeatures = ['symptom', 'fix', 'coverage', 'standout', 'errorType'] as const
export const rightnessFeatures = ['standout', 'quoted', 'margin'] as const
export type RankingFeature = (typeof rankingFeatures)[number]
export type KinshipFeature = (typeof kinshipFeatures)[number]
export type RightnessFeature = (typeof rightnessFeatures)[number]
export type Rightness = Record<RightnessFeature, number>

export const fittedModel: RelevanceModel = weights

export function rankingScore(features: Features, { ranking }: RelevanceModel): number {
  return rankingFeatures.reduce((sum, name) => sum + ranking[name] * features[name], 0)
}

/** The log-odds of kinship. */
export function kinshipOdds(features: Features, { kinship }: RelevanceModel): number {
  return kinshipFeatures.reduce((sum, name) => sum + kinship[name] * features[name], kinship.bias)
}

/** The log-odds that the fix is the right one. */
export function rightnessOdds(evidence: Rightness, { rightness }: RelevanceModel): number {
  return rightnessFeatures.reduce(
    (sum, name) => sum + rightness[name] * evidence[name],
    rightness.bias,
  )
}

export function probabilityOf(odds: number): number {
  return 1 / (1 + Math.exp(-odds))
}
