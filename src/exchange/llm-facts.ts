/** What is known of an LLM request and its answer; the `llm` variable of expressions, log fields and token limits. */
export interface LlmFacts extends LlmTokens {
  operation: 'chat' | 'embeddings' | undefined
  provider: string
  /** After pin and aliases. */
  requestModel: string
  responseModel: string | undefined
  streaming: boolean
  serviceTier: string | undefined
  /** Milliseconds from the start of the request to the first token of a stream. */
  timeToFirstTokenMs: number | undefined
  /** The request as it was sent on; undefined where its body was not read. */
  readonly request: LlmRequest | undefined
  /** What the model wrote; undefined while no expression in force reads it. */
  readonly answer: LlmAnswer | undefined
}

/** Numbers of tokens as the provider tells them; undefined while unknown. */
export interface LlmTokens {
  /** Cache-inclusive, as is the total (decision B37). */
  inputTokens: number | undefined
  outputTokens: number | undefined
  totalTokens: number | undefined
  /** As the provider counts. */
  providerInputTokens: number | undefined
  providerTotalTokens: number | undefined
  cachedInputTokens: number | undefined
  cacheCreationInputTokens: number | undefined
  reasoningTokens: number | undefined
  /** The answer to a request that only asks how many tokens there would be. */
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
  reasoningTokens: undefined,
  countTokens: undefined,
  inputImageTokens: undefined,
  inputTextTokens: undefined,
  inputAudioTokens: undefined,
  outputImageTokens: undefined,
  outputTextTokens: undefined,
  outputAudioTokens: undefined,
}

/** Of a request of which nothing is known. */
export const NO_LLM: Readonly<LlmFacts> = {
  ...NO_TOKENS,
  operation: undefined,
  provider: '',
  requestModel: '',
  responseModel: undefined,
  streaming: false,
  serviceTier: undefined,
  timeToFirstTokenMs: undefined,
  request: undefined,
  answer: undefined,
}

/** An LLM request, read from its body when somebody asks and not before. */
export interface LlmRequest {
  /** Undefined when the request does not say, or says something else than a number. */
  number(parameter: NumberParameter): number | undefined
  text(parameter: 'encoding_format'): string | undefined
  /** What the model is told, with the configured messages and after masks (decision B97). */
  readonly prompt: readonly PromptEntry[]
}

/** Parameters by the names that most dialects have for them. */
export type NumberParameter =
  | 'temperature'
  | 'top_p'
  | 'frequency_penalty'
  | 'presence_penalty'
  | 'seed'
  | 'max_tokens'
  | 'dimensions'

/** One message, of which only the text counts. */
export type PromptEntry = { readonly role: string; readonly content: string }

/** What a model wrote, as far as it has come. */
export interface LlmAnswer {
  /** One for each choice or block of text. */
  readonly completion: readonly string[]
  readonly toolCalls: readonly ToolCall[]
}

export type ToolCall = {
  readonly id: string
  readonly name: string
  /** Parsed JSON where it is some, else the text. */
  readonly arguments: unknown
}
