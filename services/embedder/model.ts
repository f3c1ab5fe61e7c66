import { existsSync, readFileSync } from 'node:fs'
import { join } from 'node:path'
import { InferenceSession, Tensor } from 'onnxruntime-node'
import { DIMENSIONS } from '../../shared/contracts/vector.ts'
import { ConfigError } from '../../shared/errors.ts'
import { count } from '../../shared/metrics.ts'
import { createTokenizer, type TokenIds, type Tokenizer } from './tokenize.ts'

/** The model that is part of the project. */
export const bundledModel = join(import.meta.dirname, 'models', 'all-MiniLM-L6-v2')

const files = {
  tokenizer: 'tokenizer.json',
  tokenizerConfig: 'tokenizer_config.json',
  weights: join('onnx', 'model_quantized.onnx'),
}

/** A text's meaning as a vector of 384 floats and unit length. The same text, the same vector. */
export type Embed = (text: string) => Promise<Float32Array>

/**
 * Loads the model in `folder` and tries it once. Throws ConfigError, which names the file and the
 * variable, when a file is missing, damaged or belongs to another kind of model.
 */
export async function loadModel(folder: string): Promise<Embed> {
  const tokenize = loadTokenizer(folder)
  const session = await loadSession(folder)
  const vectorOf = async (ids: TokenIds) => unitMean(await hiddenStates(session, ids))
  try {
    await vectorOf(tokenize(''))
  } catch (error) {
    throw unusable(folder, files.weights, error)
  }
  return async (text) => {
    const ids = tokenize(text)
    count('astra_embedding_tokens_total', {}, ids.length)
    return vectorOf(ids)
  }
}

export function loadTokenizer(folder: string): Tokenizer {
  const tokenizerJson = readJson(folder, files.tokenizer)
  const tokenizerConfig = readJson(folder, files.tokenizerConfig)
  try {
    return createTokenizer(tokenizerJson, tokenizerConfig)
  } catch (error) {
    throw unusable(folder, files.tokenizer, error)
  }
}

function readJson(folder: string, file: string): unknown {
  try {
    return JSON.parse(readFileSync(existing(folder, file), 'utf8'))
  } catch (error) {
    throw error instanceof ConfigError ? error : unusable(folder, file, error)
  }
}

async function loadSession(folder: string): Promise<InferenceSession> {
  const path = existing(folder, files.weights)
  // The runtime would write files of its own into the temporary and the cache folder, for a
  // collector that nobody here asked for.
  process.env.ORT_DISABLE_TELEMETRY = '1'
  try {
    // One thread a process: two processes of one thread did more than one process of two, and the
    // threads of a larger pool spin while they wait, which robs the tests that run beside them.
    return await InferenceSession.create(path, { intraOpNumThreads: 1, interOpNumThreads: 1 })
  } catch (error) {
    throw unusable(folder, files.weights, error)
  }
}

/**
 * The last layer's output, tokens x 384. One text a call, without padding: int8 activations share
 * one scale over the whole input, so neighbours in a batch would change a text's vector (cosine 0.99
 * in the mean, 0.96 at worst, as much as the quantisation itself), and on one thread a batch is
 * hardly faster. See models/README.md.
 */
async function hiddenStates(session: InferenceSession, ids: TokenIds): Promise<Float32Array> {
  const row = (value: (id: number) => bigint) =>
    new Tensor('int64', BigInt64Array.from(ids, value), [1, ids.length])
  const outputs = await session.run({
    input_ids: row(BigInt),
    attention_mask: row(() => 1n),
    token_type_ids: row(() => 0n),
  })
  const output = outputs.last_hidden_state
  if (!(output?.data instanceof Float32Array) || output.data.length !== ids.length * DIMENSIONS) {
    throw new Error(`the model gives no last_hidden_state of ${DIMENSIONS} floats a token`)
  }
  return output.data
}

/** The mean over all tokens, none of them padding, scaled to unit length. */
function unitMean(states: Float32Array): Float32Array {
  const sum = new Float64Array(DIMENSIONS)
  for (let index = 0; index < states.length; index += 1) {
    const dimension = index % DIMENSIONS
    sum[dimension] = (sum[dimension] ?? 0) + (states[index] ?? 0)
  }
  const length = Math.hypot(...sum)
  if (!(length > 0 && Number.isFinite(length))) throw new Error('the vector has no direction')
  return Float32Array.from(sum, (value) => value / length)
}

function existing(folder: string, file: string): string {
  const path = join(folder, file)
  if (existsSync(path)) return path
  throw new ConfigError(`${setting} has no file ${path}`, { hint })
}

function unusable(folder: string, file: string, cause: unknown): ConfigError {
  const path = join(folder, file)
  return new ConfigError(`${setting} has a file ${path} that cannot be used`, { hint, cause })
}

const setting = 'the embedding model (EMBEDDING_MODEL_PATH)'
const hint = `unset EMBEDDING_MODEL_PATH for the bundled model, or let it name a folder with ${Object.values(files).join(', ')}`
