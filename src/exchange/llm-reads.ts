import type { Expression } from './expression.ts'

/** What expressions read of LLM calls that is not there unless somebody asks for it. */
export interface LlmReads {
  /** Providers are asked to count tokens (decision B35). */
  readonly tokens: boolean
  /** What the model writes is kept (decision B97). */
  readonly completion: boolean
  readonly toolCalls: boolean
}

export const READS_NOTHING: LlmReads = { tokens: false, completion: false, toolCalls: false }

/** By their text alone, so it is known when the configuration is. */
export function llmReadsOf(expressions: Iterable<Expression>): LlmReads {
  const references = [...expressions].flatMap((expression) => [...expression.references])
  return {
    tokens: references.some((path) => COUNTED.test(path)),
    completion: references.includes('llm.completion'),
    toolCalls: references.includes('llm.toolCalls'),
  }
}

const COUNTED = /^llm\.(?:\w+Tokens|timePerOutputToken)$/

/** What any of them reads. */
export function joinLlmReads(all: readonly LlmReads[]): LlmReads {
  return {
    tokens: all.some(({ tokens }) => tokens),
    completion: all.some(({ completion }) => completion),
    toolCalls: all.some(({ toolCalls }) => toolCalls),
  }
}
