import { clock } from '#base/clock.ts'
import { Duration, fromJson, type Result, Uint } from '#cel/index.ts'
import type { Exchange } from '../exchange.ts'
import type { LlmFacts } from '../llm-facts.ts'
import { type Declared, known, notYet } from './declared.ts'

/** What is known of an LLM request and its answer so far; absent for requests that are none. */
export const LLM: readonly Declared[] = [
  { path: 'llm.streaming', type: 'bool', read: (x) => x.llm?.streaming },
  { path: 'llm.requestModel', type: 'string', read: (x) => known(x.llm?.requestModel) },
  { path: 'llm.responseModel', type: 'string', read: (x) => x.llm?.responseModel },
  { path: 'llm.provider', type: 'string', read: (x) => x.llm?.provider },
  tokens('llm.inputTokens', (llm) => llm.inputTokens),
  tokens('llm.outputTokens', (llm) => llm.outputTokens),
  tokens('llm.totalTokens', (llm) => llm.totalTokens),
  tokens('llm.cachedInputTokens', (llm) => llm.cachedInputTokens),
  tokens('llm.reasoningTokens', (llm) => llm.reasoningTokens),
  ...notYet(
    ['llm.providerInputTokens', 'llm.providerTotalTokens', 'llm.cacheCreationInputTokens', 'llm.countTokens'],
    'this count is not taken from answers',
  ),
  ...notYet(
    [
      'llm.inputImageTokens',
      'llm.inputTextTokens',
      'llm.inputAudioTokens',
      'llm.outputImageTokens',
      'llm.outputTextTokens',
      'llm.outputAudioTokens',
    ],
    'tokens are not counted by what they stand for',
  ),
  ...notYet(['llm.serviceTier'], 'it is not taken from answers'),
  ...notYet(['llm.prompt', 'llm.completion', 'llm.toolCalls'], 'texts of LLM calls are not kept'),
  ...notYet(
    [
      'temperature',
      'top_p',
      'frequency_penalty',
      'presence_penalty',
      'seed',
      'max_tokens',
      'encoding_format',
      'dimensions',
    ].map((name) => `llm.params.${name}`),
    'parameters of LLM requests are not kept',
  ),
  ...notYet(['llm.cost', 'llm.costRates'], 'there is no price catalogue'),
]

/** Known only when the answer has ended. */
export const LLM_TIMES: readonly Declared[] = [
  { path: 'llm.timeToFirstToken', type: 'duration', read: ({ llm }) => durationOf(llm?.timeToFirstTokenMs) },
  { path: 'llm.timePerOutputToken', type: 'duration', read: timePerOutputToken },
]

/** The client's JSON body, for `transformations` of LLM requests. */
export const LLM_REQUEST: readonly Declared[] = [
  {
    path: 'llmRequest',
    type: 'dyn',
    read: ({ newRequestBody, requestBody }) => parseJson(newRequestBody ?? requestBody),
  },
]

function tokens(path: string, count: (llm: LlmFacts) => number | undefined): Declared {
  return {
    path,
    type: 'uint',
    read: ({ llm }) => {
      const found = llm === undefined ? undefined : count(llm)
      return found === undefined ? undefined : new Uint(found)
    },
  }
}

/** From the first token to the end, by the number of tokens; only while there were some. */
function timePerOutputToken({ llm, startMonotonicMs }: Exchange): Duration | undefined {
  if (llm?.timeToFirstTokenMs === undefined || llm.outputTokens === undefined || llm.outputTokens === 0)
    return undefined
  const generatedMs = clock.monotonic() - startMonotonicMs - llm.timeToFirstTokenMs
  return Duration.fromMs(generatedMs / llm.outputTokens)
}

function durationOf(ms: number | undefined): Duration | undefined {
  return ms === undefined ? undefined : Duration.fromMs(ms)
}

function parseJson(body: Uint8Array | null | undefined): Result | undefined {
  if (body === null || body === undefined) return undefined
  try {
    return fromJson(JSON.parse(new TextDecoder().decode(body)))
  } catch {
    return undefined
  }
}
