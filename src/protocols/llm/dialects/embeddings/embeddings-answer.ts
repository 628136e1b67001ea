import { parseJson } from '#base/parse-json.ts'
import type { LlmFacts } from '#exchange/llm-facts.ts'
import type { Head } from '#net/http/head.ts'
import { expectKind } from '../../chat/object-reader.ts'
import { Untranslatable } from '../../chat/untranslatable.ts'
import type { JsonValue } from '../../json/json-document.ts'
import { decodeText } from '../../json/native.ts'
import { isCount } from '../../json/read-value.ts'
import { asIs } from '../../json/write-json.ts'
import type { EmbeddingsRequest } from './embeddings-request.ts'

/** The answer of the embeddings API. */
interface EmbeddingsAnswer {
  readonly object: 'list'
  readonly data: readonly { object: 'embedding'; index: number; embedding: number[] | string }[]
  readonly model: string
  readonly usage: { prompt_tokens: number; total_tokens: number }
}

/**
 * Writes an answer, and sets its facts.
 * @param vectors lists of numbers
 * @param tokens of all inputs; undefined if the provider does not say
 */
export function writeEmbeddings(
  { model, base64 }: EmbeddingsRequest,
  vectors: readonly JsonValue[],
  tokens: number | undefined,
  facts: LlmFacts,
): EmbeddingsAnswer {
  facts.responseModel = model
  facts.inputTokens = tokens
  facts.providerInputTokens = tokens
  facts.totalTokens = tokens
  facts.providerTotalTokens = tokens
  const data = vectors.map((vector, index) => {
    return {
      object: 'embedding' as const,
      index,
      embedding: base64 ? toBase64(vector) : asIs<number[]>(listOf(vector)),
    }
  })
  return { object: 'list', data, model, usage: { prompt_tokens: tokens ?? 0, total_tokens: tokens ?? 0 } }
}

function listOf(vector: JsonValue): Uint8Array {
  return expectKind(vector, 'array').json
}

/** Little-endian, as the API has it. */
function toBase64(vector: JsonValue): string {
  const json = listOf(vector)
  const numbers = parseJson(decodeText(json, 0, json.length)) as unknown[]
  const bytes = new Uint8Array(numbers.length * 4)
  const view = new DataView(bytes.buffer)
  numbers.forEach((number, index) => {
    if (typeof number !== 'number') throw new Untranslatable(vector, 'must be a list of numbers')
    view.setFloat32(index * 4, number, true)
  })
  return bytes.toBase64()
}

/** Where the vectors are; refused if the provider sent none for some input. */
export function requireVectors(vectors: readonly (JsonValue | undefined)[], expected: number): readonly JsonValue[] {
  const found = vectors.filter((vector) => vector !== undefined)
  if (found.length !== expected) {
    throw new Untranslatable(undefined, `the response has ${found.length} vectors for ${expected} inputs`)
  }
  return found
}

/** The number of tokens that the platform of provider seven sends beside the body. */
export function countedTokens(head: Head): number | undefined {
  const text = head.joined('x-amzn-bedrock-input-token-count')
  const count = text !== undefined && /^\d{1,13}$/.test(text) ? Number(text) : undefined
  return isCount(count) ? count : undefined
}
