/** What is known of an LLM request and its answer; the `llm` variable of expressions, log fields and token limits. */
export interface LlmFacts {
  operation: 'chat' | 'embeddings' | undefined
  provider: string
  /** After pin and aliases. */
  requestModel: string
  responseModel: string | undefined
  streaming: boolean
  /** Cache-inclusive; undefined while unknown (decision B37). */
  inputTokens: number | undefined
  outputTokens: number | undefined
  totalTokens: number | undefined
  cachedInputTokens: number | undefined
  reasoningTokens: number | undefined
  /** Milliseconds from the start of the request to the first token of a stream. */
  timeToFirstTokenMs: number | undefined
}
