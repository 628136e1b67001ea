import type { LlmFacts } from '#exchange/llm-facts.ts'
import { keepChoices } from '../dialects/completions/keep-answer.ts'
import { readCompletionsUsage } from '../dialects/completions/response.ts'
import { keepBlocks } from '../dialects/messages/keep-answer.ts'
import { MessagesUsage } from '../dialects/messages/response.ts'
import { keepItems } from '../dialects/responses/keep-answer.ts'
import { noteIncomplete, noteStatus, readResponsesUsage } from '../dialects/responses/response.ts'
import { answerFormat } from '../facts/answer-format.ts'
import { noteFinish, noteFinishes } from '../facts/finish-reasons.ts'
import { hourlyCacheWrites, noteCounts, totalOf } from '../facts/usage-details.ts'
import { countAt, elementsOf, memberOf, objectAt, textAt } from '../json/read-value.ts'

/** Members that have facts in responses of any format. */
export const DETECT_MEMBERS = [
  'id',
  'responseId',
  'model',
  'modelVersion',
  'usage',
  'usageMetadata',
  'service_tier',
  'metadata',
  'response',
  'message',
]

/** Members that say why the model stopped. */
const REASONS = ['stop_reason', 'stopReason', 'choices[].finish_reason', 'candidates[].finishReason']

/** A whole answer of unknown format. */
export const DETECTED_ANSWER = answerFormat(
  [...DETECT_MEMBERS, ...REASONS, 'object', 'status', 'incomplete_details.reason'],
  { choices: { keep: keepChoices, note: noteFinishes }, content: { keep: keepBlocks }, output: { keep: keepItems } },
  () => {
    const detect = new DetectReader()
    return (path, value, facts) => detect.readMember(path, value, facts)
  },
)

/** Finds facts in a response of unknown format: checks every known member (decision B06). */
export class DetectReader {
  readonly #messages = new MessagesUsage()
  /** In other APIs, `status` is something else. */
  #isResponse = false

  /** Reads a member of a whole response. @param path of `DETECTED_ANSWER` */
  readMember(path: string, value: unknown, facts: LlmFacts): void {
    if (REASONS.includes(path)) return noteFinish(value, facts)
    if (path === 'object') this.#isResponse = value === 'response'
    else if (path === 'status') this.#isResponse && noteStatus(value, facts)
    else if (path === 'incomplete_details.reason') this.#isResponse && noteIncomplete(value, facts)
    else this.#readHolders({ [path]: value }, facts)
  }

  #readHolders(answer: unknown, facts: LlmFacts): void {
    const identified = [answer, objectAt(answer, 'response'), objectAt(answer, 'message')]
    for (const holder of identified) {
      facts.responseId = textAt(holder, 'id') ?? textAt(holder, 'responseId') ?? facts.responseId
    }
    // Clients choose the ids in `metadata`.
    for (const holder of [...identified, objectAt(answer, 'metadata')]) {
      facts.responseModel = textAt(holder, 'model') ?? textAt(holder, 'modelVersion') ?? facts.responseModel
      facts.serviceTier = textAt(holder, 'service_tier') ?? facts.serviceTier
      const usage = memberOf(holder, 'usage') ?? memberOf(holder, 'usageMetadata')
      if (usage !== undefined) this.#readUsage(usage, facts)
    }
  }

  /** Reads an event of a stream. */
  read(event: unknown, facts: LlmFacts): void {
    this.#readHolders(event, facts)
    noteFinish(memberOf(memberOf(event, 'delta'), 'stop_reason') ?? memberOf(event, 'stopReason'), facts)
    noteFinishes(memberOf(event, 'choices'), facts)
    for (const each of elementsOf(memberOf(event, 'candidates'))) noteFinish(memberOf(each, 'finishReason'), facts)
    if (textAt(event, 'type')?.startsWith('response.') !== true) return
    const response = memberOf(event, 'response')
    noteStatus(memberOf(response, 'status'), facts)
    noteIncomplete(memberOf(memberOf(response, 'incomplete_details'), 'reason'), facts)
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
  const output = written === undefined ? undefined : written + (thoughts ?? 0)
  noteCounts(facts, { input: countAt(usage, 'promptTokenCount'), output, total: countAt(usage, 'totalTokenCount') })
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
