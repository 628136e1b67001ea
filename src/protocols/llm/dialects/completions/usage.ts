import type { ChatCompletion } from 'openai/resources/chat/completions'
import type { CompletionUsage } from 'openai/resources/completions'
import { NO_TOKENS } from '#exchange/llm-facts.ts'
import type { AnswerUsage } from '../../chat/answer-sink.ts'
import { readCompletionsUsage } from './response.ts'

/** The counts of a `usage` object. */
export function readUsage(usage: object, serviceTier: string | undefined): AnswerUsage {
  const counts = { ...NO_TOKENS, serviceTier }
  readCompletionsUsage(usage, counts)
  return counts
}

/** The same for a client. Counts of input include cached tokens; what the provider did not count is absent. */
export function writeUsage(usage: AnswerUsage): CompletionUsage {
  const { inputTokens = 0, outputTokens = 0 } = usage
  const input = known<CompletionUsage.PromptTokensDetails>({
    cached_tokens: usage.cachedInputTokens,
    cache_write_tokens: usage.cacheCreationInputTokens,
    text_tokens: usage.inputTextTokens,
    image_tokens: usage.inputImageTokens,
    audio_tokens: usage.inputAudioTokens,
  })
  const output = known<CompletionUsage.CompletionTokensDetails>({
    reasoning_tokens: usage.reasoningTokens,
    text_tokens: usage.outputTextTokens,
    audio_tokens: usage.outputAudioTokens,
  })
  const written: CompletionUsage = {
    prompt_tokens: inputTokens,
    completion_tokens: outputTokens,
    total_tokens: usage.totalTokens ?? inputTokens + outputTokens,
  }
  if (input !== undefined) written.prompt_tokens_details = input
  if (output !== undefined) written.completion_tokens_details = output
  return written
}

/** Undefined if nothing is known. */
function known<Details>(counts: { readonly [Name in keyof Details]: number | undefined }): Details | undefined {
  let found: Record<string, number> | undefined
  for (const name in counts) {
    const count = counts[name]
    if (count === undefined) continue
    found ??= {}
    found[name] = count
  }
  return found as Details | undefined
}

type Tier = NonNullable<ChatCompletion['service_tier']>

/** The tiers of this API and of responses, by their names here and elsewhere. */
const TIERS: ReadonlyMap<string, Tier> = new Map([
  ...(['auto', 'default', 'flex', 'scale', 'priority', 'fast'] as const).map((name) => [name, name] as const),
  ['standard', 'default'],
])

/** The tier by its name in this API; undefined if it has none, as for batches. */
export function writeTier({ serviceTier }: AnswerUsage): Tier | undefined {
  return serviceTier === undefined ? undefined : TIERS.get(serviceTier)
}
