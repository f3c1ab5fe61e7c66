import { BertTokenizer } from '@xenova/transformers/src/tokenizers.js'

/** Token ids of one text, `[CLS]` first and `[SEP]` last, 2 to 256 of them. */
export type TokenIds = readonly number[]

export type Tokenizer = (text: string) => TokenIds

/** As sentence-transformers sets it for this model; its positions would reach to 512. */
export const MAX_TOKENS = 256

const SEP = 102

/**
 * The tokenizer of a model, from its tokenizer.json and tokenizer_config.json. It gives the ids that
 * sentence-transformers gives. Every string is taken: empty and blank text is `[CLS][SEP]`, half of a
 * surrogate pair counts as U+FFFD, which the model's normalisation drops.
 */
export function createTokenizer(tokenizerJson: unknown, tokenizerConfig: unknown): Tokenizer {
  const tokenizer = new BertTokenizer(tokenizerJson, tokenizerConfig)
  // Its own normaliser keeps marks of other scripts, joins rare ideographs, and makes a final sigma.
  Object.assign(tokenizer, { normalizer: normalise })
  return (text) => {
    const ids = openingIds(tokenizer, text.toWellFormed())
    // Its own truncation would cut [SEP] off.
    return ids.length > MAX_TOKENS ? [...ids.slice(0, MAX_TOKENS - 1), SEP] : ids
  }
}

const OPENING_CHARS = 2048

/**
 * The ids of as much of a text as can matter: of all of it, or at least twice as many as are kept.
 * No fixed number of characters would do (a text may open with a megabyte of blanks), and a word
 * that is long and rare takes 2 ms, so the part that is read grows until it is enough. Where it is
 * cut, a word of at most 100 letters (a longer one is one id) or a special token may have other ids
 * than in the whole text: fewer than 256, so none of those that are kept.
 */
function openingIds(tokenizer: BertTokenizer, text: string): number[] {
  for (let length = OPENING_CHARS; length < text.length; length *= 2) {
    const ids = tokenizer.encode(text.slice(0, length))
    if (ids.length >= 2 * MAX_TOKENS) return ids
  }
  return tokenizer.encode(text)
}

const dropped = /[\0\ufffd]|(?![\t\n\r])[\p{Cc}\p{Cf}\p{Co}\p{Cs}]/gu
const ideograph =
  /[\u4e00-\u9fff\u3400-\u4dbf\uf900-\ufaff\u{20000}-\u{2a6df}\u{2a700}-\u{2b73f}\u{2b740}-\u{2b81f}\u{2b820}-\u{2ceaf}\u{2f800}-\u{2fa1f}]/gu

/** Uncased BERT: no controls, ideographs apart, no marks that take no room, lower case. */
function normalise(text: string): string {
  return (
    text
      .replace(dropped, '')
      .replace(/\s/g, ' ')
      .replace(ideograph, ' $& ')
      .normalize('NFD')
      .replace(/\p{Mn}/gu, '')
      // The reference lowers letter by letter: it has no final sigma.
      .replaceAll('Σ', 'σ')
      .toLowerCase()
  )
}
