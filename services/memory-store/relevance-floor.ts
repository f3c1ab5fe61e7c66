/** The least cosine that is worth showing. */
export const RELEVANCE_FLOOR = 0.4
