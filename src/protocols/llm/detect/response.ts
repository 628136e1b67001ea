import type { LlmFacts } from '#exchange/llm-facts.ts'
import { hourlyCacheWrites } from '../answer/usage-details.ts'
import { readCompletionsUsage } from '../completions/response.ts'
import { countAt, memberOf, objectAt, textAt } from '../json/read-value.ts'
import { MessagesUsage } from '../messages/response.ts'
import { readResponsesUsage } from '../responses/response.ts'

/** Members that have the usage or the model in responses of any format. */
export const DETECT_MEMBERS = [
  'model',
  'modelVersion',
  'usage',
  'usageMetadata',
  'service_tier',
  'metadata',
  'response',
  'message',
]

/** Finds facts in a response of unknown format: checks every known member for usage and model (decision B06). */
export class DetectReader {
  readonly #messages = new MessagesUsage()

  read(answer: unknown, facts: LlmFacts): void {
    const holders = [answer, objectAt(answer, 'response'), objectAt(answer, 'message'), objectAt(answer, 'metadata')]
    for (const holder of holders) {
      facts.responseModel = textAt(holder, 'model') ?? textAt(holder, 'modelVersion') ?? facts.responseModel
      facts.serviceTier = textAt(holder, 'service_tier') ?? facts.serviceTier
      const usage = memberOf(holder, 'usage') ?? memberOf(holder, 'usageMetadata')
      if (usage !== undefined) this.#readUsage(usage, facts)
    }
  }

  /** The names of its numbers identify the format. */
  #readUsage(usage: unknown, facts: LlmFacts): void {
    if (countAt(usage, 'prompt_tokens') !== undefined) return readCompletionsUsage(usage, facts)
    if (countAt(usage, 'promptTokenCount') !== undefined) return readGenerateUsage(usage, facts)
    if (countAt(usage, 'inputTokens') !== undefined) return readConverseUsage(usage, facts)
    if (countAt(usage, 'total_tokens') !== undefined) return readResponsesUsage(usage, facts)
    this.#messages.read(usage, facts)
  }
}

/** `usageMetadata` of the native format of providers five and six. */
function readGenerateUsage(usage: unknown, facts: LlmFacts): void {
  const thoughts = countAt(usage, 'thoughtsTokenCount')
  const input = countAt(usage, 'promptTokenCount') ?? 0
  const output = (countAt(usage, 'candidatesTokenCount') ?? 0) + (thoughts ?? 0)
  facts.inputTokens = input
  facts.providerInputTokens = input
  facts.outputTokens = output
  facts.totalTokens = countAt(usage, 'totalTokenCount') ?? input + output
  facts.providerTotalTokens = facts.totalTokens
  facts.cachedInputTokens = countAt(usage, 'cachedContentTokenCount') ?? facts.cachedInputTokens
  facts.reasoningTokens = thoughts ?? facts.reasoningTokens
}

/** `usage` in the native format of providerSeven (Amazon Bedrock); its input count excludes cached tokens. */
function readConverseUsage(usage: unknown, facts: LlmFacts): void {
  const read = countAt(usage, 'cacheReadInputTokens')
  const write = countAt(usage, 'cacheWriteInputTokens')
  const uncached = countAt(usage, 'inputTokens') ?? 0
  const input = uncached + (read ?? 0) + (write ?? 0)
  const output = countAt(usage, 'outputTokens')
  facts.inputTokens = input
  facts.providerInputTokens = uncached
  facts.outputTokens = output ?? facts.outputTokens
  facts.totalTokens = input + (output ?? 0)
  facts.providerTotalTokens = countAt(usage, 'totalTokens') ?? uncached + (output ?? 0)
  facts.cachedInputTokens = read ?? facts.cachedInputTokens
  facts.cacheCreationInputTokens = write ?? facts.cacheCreationInputTokens
  facts.cacheCreation1hInputTokens = hourlyCacheWrites(usage) ?? facts.cacheCreation1hInputTokens
}
