/** The package types its index only; that loads sharp and every pipeline, this file neither. */
declare module '@xenova/transformers/src/tokenizers.js' {
  export { BertTokenizer } from '@xenova/transformers'
}
