import type { Vocabulary } from './token-counter.ts'

/** Facts about an LLM request and its response: the `llm` variable of expressions, log fields and token limits. */
export interface LlmFacts extends LlmTokens {
  /** The interface that the client speaks. The path of the request is that of the provider by now. */
  readonly routeType: LlmRouteType | undefined
  /** The interface that the path belongs to, if the backend handles all paths as chat completions. */
  readonly misread: LlmInterface | undefined
  operation: 'chat' | 'embeddings' | 'realtime' | undefined
  provider: string
  /** Host of the provider. */
  serverAddress: string
  /** After pin and aliases. */
  requestModel: string
  /** The request model as configuration or the model catalogue name it; undefined: the client may have invented the name. */
  knownModel: string | undefined
  responseModel: string | undefined
  responseId: string | undefined
  /** Why the model stopped, in the words of the provider: one for each choice. Of a translated response, in those of chat completions. */
  finishReasons: readonly string[]
  streaming: boolean
  serviceTier: string | undefined
  /** Milliseconds from the start of the request to the first token of a stream. */
  timeToFirstTokenMs: number | undefined
  /** Set if the provider speaks another dialect than the client. */
  translation: LlmTranslation | undefined
  /** Guards check the answer: names that the provider chooses are noted only if guards do not check them. */
  readonly isGuarded: boolean
  /** Fields that were set, and that `transformations` removed because their expressions failed (decision B102). */
  readonly removedFields: readonly string[]
  /** Counts of tokens are estimates of the gateway, because the provider reported none, or not all. */
  areTokensEstimated: boolean
  /** The vocabulary with which the gateway counted tokens itself; `none`: it had no time, and estimated them from the lengths of words. */
  countVocabulary: Vocabulary | 'none' | undefined
  /** How a response failed after its head: the type of the provider's error, that it cannot be read, or why it broke off. */
  errorType: string | undefined
  /** The code with which the provider closed the WebSocket of a session (RFC 6455, 7.1.5). */
  closeCode: number | undefined
  /** The forwarded request; undefined if its body was not read. */
  readonly request: LlmRequest | undefined
  /** Output of the model; undefined if no expression in force reads it. */
  readonly answer: LlmAnswer | undefined
}

/** An interface of LLM providers other than chat completions. */
export interface LlmInterface {
  /** The end of its path. */
  readonly end: string
  /** The route type that handles it. */
  readonly type: LlmRouteType
}

/** What `why` and `explain` say about a misread path, with the code of its finding. */
export function misreadText({ end, type }: LlmInterface): string {
  const routes = `{ /chat/completions: Completions, ${end}: ${type} }`
  return `${end} is handled as a chat completion, because backend.ai.routes is unset: set ${routes} (llm-path-not-completions)`
}

/** Types of routes (specification 1, 4.3). */
type LlmRouteType =
  | 'Completions'
  | 'Messages'
  | 'Models'
  | 'Passthrough'
  | 'Detect'
  | 'Responses'
  | 'MessagesTokenCount'
  | 'Embeddings'
  | 'Realtime'

/** Token counts of the provider; undefined while unknown. */
export interface LlmTokens {
  /** Includes cached tokens, as does the total (decision B37). */
  inputTokens: number | undefined
  outputTokens: number | undefined
  totalTokens: number | undefined
  /** As counted by the provider. */
  providerInputTokens: number | undefined
  providerTotalTokens: number | undefined
  cachedInputTokens: number | undefined
  cacheCreationInputTokens: number | undefined
  /** The part of them that is kept for an hour, if the provider tells. */
  cacheCreation1hInputTokens: number | undefined
  reasoningTokens: number | undefined
  /** The response to a request that only counts tokens. */
  countTokens: number | undefined
  inputImageTokens: number | undefined
  inputTextTokens: number | undefined
  inputAudioTokens: number | undefined
  outputImageTokens: number | undefined
  outputTextTokens: number | undefined
  outputAudioTokens: number | undefined
}

/** Nothing is known yet. */
export const NO_TOKENS: Readonly<LlmTokens> = {
  inputTokens: undefined,
  outputTokens: undefined,
  totalTokens: undefined,
  providerInputTokens: undefined,
  providerTotalTokens: undefined,
  cachedInputTokens: undefined,
  cacheCreationInputTokens: undefined,
  cacheCreation1hInputTokens: undefined,
  reasoningTokens: undefined,
  countTokens: undefined,
  inputImageTokens: undefined,
  inputTextTokens: undefined,
  inputAudioTokens: undefined,
  outputImageTokens: undefined,
  outputTextTokens: undefined,
  outputAudioTokens: undefined,
}

/** For a request without facts. */
export const NO_LLM: Readonly<LlmFacts> = {
  ...NO_TOKENS,
  routeType: undefined,
  misread: undefined,
  operation: undefined,
  provider: '',
  serverAddress: '',
  requestModel: '',
  knownModel: undefined,
  responseModel: undefined,
  responseId: undefined,
  finishReasons: [],
  streaming: false,
  serviceTier: undefined,
  timeToFirstTokenMs: undefined,
  translation: undefined,
  isGuarded: false,
  removedFields: [],
  areTokensEstimated: false,
  countVocabulary: undefined,
  errorType: undefined,
  closeCode: undefined,
  request: undefined,
  answer: undefined,
}

/** Milliseconds for each output token after the first one; undefined unless a stream had tokens. @param elapsedMs since the start of the request */
export function msPerOutputToken(
  { timeToFirstTokenMs, outputTokens }: LlmFacts,
  elapsedMs: number,
): number | undefined {
  if (timeToFirstTokenMs === undefined || outputTokens === undefined || outputTokens === 0) return undefined
  return Math.max(0, elapsedMs - timeToFirstTokenMs) / outputTokens
}

/** A request that was translated between dialects. */
export interface LlmTranslation {
  readonly from: string
  readonly to: string
  /** Paths of the client's body that could not be carried. */
  readonly dropped: readonly string[]
}

/** An LLM request, parsed lazily from its body. */
export interface LlmRequest {
  /** Undefined if the request does not set it, or the value is not a number. */
  number(parameter: NumberParameter): number | undefined
  text(parameter: 'encoding_format'): string | undefined
  /** The kind of output that the request asks for; undefined if it leaves that open. */
  readonly outputType: 'text' | 'json' | 'speech' | undefined
  /** The prompt, with the configured messages and after masks (decision B97). */
  readonly prompt: readonly PromptEntry[]
}

/** Parameters, with the names that most dialects use. */
export type NumberParameter =
  | 'temperature'
  | 'top_p'
  | 'frequency_penalty'
  | 'presence_penalty'
  | 'seed'
  | 'max_tokens'
  | 'dimensions'

/** One message; only its text is included. */
export type PromptEntry = { readonly role: string; readonly content: string }

/** Output of a model so far. */
export interface LlmAnswer {
  /** One for each choice or block of text. */
  readonly completion: readonly string[]
  readonly toolCalls: readonly ToolCall[]
}

export type ToolCall = {
  readonly id: string
  readonly name: string
  /** Parsed JSON if it is valid, else the text. */
  readonly arguments: unknown
}
