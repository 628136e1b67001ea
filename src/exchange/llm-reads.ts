import type { Expression } from './expression.ts'

/** Optional data of LLM calls that expressions read. */
export interface LlmReads {
  /** The gateway requests token counts from providers (decision B35). */
  readonly tokens: boolean
  /** Output of the model is kept (decision B97). */
  readonly completion: boolean
  readonly toolCalls: boolean
}

export const READS_NOTHING: LlmReads = { tokens: false, completion: false, toolCalls: false }

/** Determined from their text alone, at configuration time. */
export function llmReadsOf(expressions: Iterable<Expression>): LlmReads {
  const references = [...expressions].flatMap((expression) => [...expression.references])
  return {
    tokens: references.some((path) => COUNTED.test(path)),
    completion: references.includes('llm.completion'),
    toolCalls: references.includes('llm.toolCalls'),
  }
}

const COUNTED = /^llm\.(?:\w+Tokens|timePerOutputToken|cost(?:Rates)?(?:\.\w+)?)$/

/** The union of the reads. */
export function joinLlmReads(all: readonly LlmReads[]): LlmReads {
  return {
    tokens: all.some(({ tokens }) => tokens),
    completion: all.some(({ completion }) => completion),
    toolCalls: all.some(({ toolCalls }) => toolCalls),
  }
}
