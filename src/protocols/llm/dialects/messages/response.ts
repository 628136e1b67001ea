import type { LlmTokens } from '#exchange/llm-facts.ts'
import { countAt, memberOf, textAt } from '../../json/read-value.ts'

/** What is known of the usage of one answer. */
interface Usage extends LlmTokens {
  serviceTier: string | undefined
}

/**
 * Token counts of a `usage` object of the messages API. Its input count excludes cached tokens; the gateway's includes them (decision B37).
 * In a stream later events repeat only some numbers: `input` keeps earlier ones.
 */
export class MessagesUsage {
  #input: number | undefined
  #output: number | undefined
  #cacheRead: number | undefined
  #cacheWrite: number | undefined

  read(usage: unknown, facts: Usage): void {
    this.#input = countAt(usage, 'input_tokens') ?? this.#input
    this.#output = countAt(usage, 'output_tokens') ?? this.#output
    this.#cacheRead = countAt(usage, 'cache_read_input_tokens') ?? this.#cacheRead
    this.#cacheWrite = countAt(usage, 'cache_creation_input_tokens') ?? this.#cacheWrite
    facts.serviceTier = textAt(usage, 'service_tier') ?? facts.serviceTier
    facts.cachedInputTokens = this.#cacheRead ?? facts.cachedInputTokens
    facts.cacheCreationInputTokens = this.#cacheWrite ?? facts.cacheCreationInputTokens
    const writes = memberOf(usage, 'cache_creation')
    facts.cacheCreation1hInputTokens = countAt(writes, 'ephemeral_1h_input_tokens') ?? facts.cacheCreation1hInputTokens
    facts.outputTokens = this.#output ?? facts.outputTokens
    const details = memberOf(usage, 'output_tokens_details')
    facts.reasoningTokens = countAt(details, 'thinking_tokens') ?? facts.reasoningTokens
    if (this.#input === undefined) return
    facts.providerInputTokens = this.#input
    facts.inputTokens = this.#input + (this.#cacheRead ?? 0) + (this.#cacheWrite ?? 0)
    if (this.#output === undefined) return
    facts.providerTotalTokens = this.#input + this.#output
    facts.totalTokens = facts.inputTokens + this.#output
  }
}
