import type { LlmFacts } from '#exchange/llm-facts.ts'
import { hourlyCacheWrites, totalOf } from '../answer/usage-details.ts'
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

  /** The names of its members identify the format, whatever their values are. */
  #readUsage(usage: unknown, facts: LlmFacts): void {
    const has = (name: string) => memberOf(usage, name) !== undefined
    if (has('prompt_tokens') || has('completion_tokens')) return readCompletionsUsage(usage, facts)
    if (has('promptTokenCount')) return readGenerateUsage(usage, facts)
    if (has('inputTokens')) return readConverseUsage(usage, facts)
    if (has('total_tokens')) return readResponsesUsage(usage, facts)
    this.#messages.read(usage, facts)
  }
}

/** `usageMetadata` of the native format of providers five and six. */
function readGenerateUsage(usage: unknown, facts: LlmFacts): void {
  const thoughts = countAt(usage, 'thoughtsTokenCount')
  // A count of zero is absent.
  const written = memberOf(usage, 'candidatesTokenCount') === undefined ? 0 : countAt(usage, 'candidatesTokenCount')
  const input = countAt(usage, 'promptTokenCount')
  const output = written === undefined ? undefined : written + (thoughts ?? 0)
  const total = countAt(usage, 'totalTokenCount')
  facts.inputTokens = input ?? facts.inputTokens
  facts.providerInputTokens = facts.inputTokens
  facts.outputTokens = output ?? facts.outputTokens
  facts.providerTotalTokens = total ?? totalOf(undefined, input, output) ?? facts.providerTotalTokens
  facts.totalTokens = totalOf(facts.providerTotalTokens, facts.inputTokens, facts.outputTokens)
  facts.cachedInputTokens = countAt(usage, 'cachedContentTokenCount') ?? facts.cachedInputTokens
  facts.reasoningTokens = thoughts ?? facts.reasoningTokens
}

/** `usage` in the native format of providerSeven (Amazon Bedrock); its input count excludes cached tokens. */
function readConverseUsage(usage: unknown, facts: LlmFacts): void {
  const read = countAt(usage, 'cacheReadInputTokens')
  const write = countAt(usage, 'cacheWriteInputTokens')
  const uncached = countAt(usage, 'inputTokens')
  const input = uncached === undefined ? undefined : uncached + (read ?? 0) + (write ?? 0)
  const output = countAt(usage, 'outputTokens')
  const total = countAt(usage, 'totalTokens')
  facts.inputTokens = input ?? facts.inputTokens
  facts.providerInputTokens = uncached ?? facts.providerInputTokens
  facts.outputTokens = output ?? facts.outputTokens
  facts.totalTokens = totalOf(total, facts.inputTokens, facts.outputTokens ?? 0)
  facts.providerTotalTokens = total ?? totalOf(undefined, uncached, output ?? 0) ?? facts.providerTotalTokens
  facts.cachedInputTokens = read ?? facts.cachedInputTokens
  facts.cacheCreationInputTokens = write ?? facts.cacheCreationInputTokens
  facts.cacheCreation1hInputTokens = hourlyCacheWrites(usage) ?? facts.cacheCreation1hInputTokens
}
