import { CelError, Double, Duration, fromJson, parseJsonBytes, type Result, Uint } from '#cel/index.ts'
import type { Exchange } from '../exchange.ts'
import { type LlmTokens, msPerOutputToken, NO_TOKENS, type NumberParameter } from '../llm-facts.ts'
import { type LlmCost, type LlmRates, NANODOLLARS } from '../llm-prices.ts'
import { type Declared, nonEmpty } from './declared.ts'

/** The model that the provider gets. */
export const REQUEST_MODEL: readonly Declared[] = [
  { path: 'llm.requestModel', type: 'string', read: (x) => nonEmpty(x.llm?.requestModel) },
]

/** Facts from an LLM request; absent for other requests. */
export const LLM: readonly Declared[] = [
  { path: 'llm.streaming', type: 'bool', read: (x) => x.llm?.streaming },
  { path: 'llm.provider', type: 'string', read: (x) => x.llm?.provider },
  { path: 'llm.prompt', type: 'list(map(string, string))', read: (x) => listOf(x.llm?.request?.prompt) },
  fraction('temperature'),
  fraction('top_p'),
  fraction('frequency_penalty'),
  fraction('presence_penalty'),
  whole('seed'),
  whole('max_tokens'),
  whole('dimensions'),
  {
    path: 'llm.params.encoding_format',
    type: 'string',
    read: ({ llm }) => llm?.request?.text('encoding_format'),
  },
]

/** The parts of `llm.cost`, and the kinds of prices in `llm.costRates`. */
const COST_PARTS: readonly (keyof LlmCost)[] = ['input', 'output', 'cacheRead', 'cacheWrite', 'total']
const RATE_KINDS: readonly (keyof LlmRates)[] = [
  'input',
  'output',
  'cacheRead',
  'cacheWrite',
  'cacheWrite1h',
  'inputAudio',
  'inputImage',
  'outputAudio',
  'outputImage',
  'outputReasoning',
]

/** Facts from the LLM response, as far as it has been received. */
export const LLM_ANSWER: readonly Declared[] = [
  { path: 'llm.responseModel', type: 'string', read: (x) => x.llm?.responseModel },
  { path: 'llm.serviceTier', type: 'string', read: (x) => x.llm?.serviceTier },
  ...(Object.keys(NO_TOKENS) as (keyof LlmTokens)[]).map(tokens),
  { path: 'llm.completion', type: 'list(string)', read: (x) => listOf(x.llm?.answer?.completion) },
  { path: 'llm.toolCalls', type: 'list(map(string, dyn))', read: (x) => listOf(x.llm?.answer?.toolCalls) },
  ...COST_PARTS.map(costPart),
  ...RATE_KINDS.map(rateOf),
]

/** Known only after the end of the response. */
export const LLM_TIMES: readonly Declared[] = [
  { path: 'llm.timeToFirstToken', type: 'duration', read: ({ llm }) => durationOf(llm?.timeToFirstTokenMs) },
  { path: 'llm.timePerOutputToken', type: 'duration', read: timePerOutputToken },
]

/** The JSON body of the client, for `transformations` of LLM requests. */
export const LLM_REQUEST: readonly Declared[] = [
  {
    path: 'llmRequest',
    type: 'dyn',
    read: ({ newRequestBody, requestBody }) => jsonOf(newRequestBody ?? requestBody.whole),
  },
]

function tokens(name: keyof LlmTokens): Declared {
  return {
    path: `llm.${name}`,
    type: 'uint',
    read: ({ llm }) => {
      const count = llm?.[name]
      return count === undefined ? undefined : new Uint(count)
    },
  }
}

/** In dollars. */
function costPart(part: keyof LlmCost): Declared {
  return {
    path: `llm.cost.${part}`,
    type: 'double',
    read: ({ llm, context }) => {
      const nanodollars = llm && context.prices.costOf(llm, context.now())?.[part]
      return nanodollars === undefined ? undefined : new Double(nanodollars / NANODOLLARS)
    },
  }
}

/** In dollars for a million tokens. */
function rateOf(kind: keyof LlmRates): Declared {
  return {
    path: `llm.costRates.${kind}`,
    type: 'double',
    read: ({ llm, context }) => {
      const rate = llm && context.prices.ratesOf(llm, context.now())?.[kind]
      return rate === undefined ? undefined : new Double(rate)
    },
  }
}

function fraction(parameter: NumberParameter): Declared {
  return {
    path: `llm.params.${parameter}`,
    type: 'double',
    read: ({ llm }) => {
      const value = llm?.request?.number(parameter)
      return value === undefined ? undefined : new Double(value)
    },
  }
}

/** An integer parameter; absent if the value has a fraction. */
function whole(parameter: NumberParameter): Declared {
  return {
    path: `llm.params.${parameter}`,
    type: 'int',
    read: ({ llm }) => {
      const value = llm?.request?.number(parameter)
      return Number.isInteger(value) ? value : undefined
    },
  }
}

/** Absent for an empty list too: the model wrote nothing, or nothing that could be parsed. */
function listOf(elements: readonly unknown[] | undefined): Result | undefined {
  return elements === undefined || elements.length === 0 ? undefined : fromJson(elements)
}

function timePerOutputToken({ llm, context, startMonotonicMs }: Exchange): Duration | undefined {
  return durationOf(llm && msPerOutputToken(llm, context.monotonic() - startMonotonicMs))
}

function durationOf(ms: number | undefined): Duration | undefined {
  return ms === undefined ? undefined : Duration.fromMs(ms)
}

function jsonOf(body: Uint8Array | undefined): Result | undefined {
  if (body === undefined) return undefined
  const value = parseJsonBytes(body)
  return value instanceof CelError ? undefined : value
}
