/** What this service is, said wherever it speaks: in answers, on its page and in its log. */
export const STAND_IN_NOTICE =
  'This is a local stand-in, not Astra: a small search-based repair program without a language model.'

/** The model name that responses carry. Requests may ask for any model; this one answers. */
export const STAND_IN_MODEL = 'offline-stand-in'

/** Response metadata: a reader of a stored response sees what made it. */
export const standInMetadata = { stand_in: 'local stand-in, not Astra' }
