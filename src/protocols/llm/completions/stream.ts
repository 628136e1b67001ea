import type { LlmFacts } from '#exchange/llm-facts.ts'
import { memberOf, textAt } from '../json/read-value.ts'
import { readsAt } from '../json/reads-at.ts'
import type { KeptAnswer } from '../kept-answer.ts'
import type { StreamFormat } from '../stream-format.ts'
import { formatCompletionsError } from './errors.ts'
import { keepChoices } from './keep-answer.ts'
import { readCompletionsUsage } from './response.ts'

/** Streams of chat completion chunks, ended by `[DONE]`. */
export class CompletionsStream implements StreamFormat {
  readonly finishMember = 'finish_reason'
  readonly readsAll = false

  isEnd(piece: Uint8Array, _start: number, data: number): boolean {
    return readsAt(piece, data, '[DONE]') || readsAt(piece, data, '{"error"')
  }

  isOutput(): boolean {
    return true
  }

  read(event: unknown, facts: LlmFacts): void {
    facts.responseModel = textAt(event, 'model') ?? facts.responseModel
    facts.serviceTier = textAt(event, 'service_tier') ?? facts.serviceTier
    readCompletionsUsage(memberOf(event, 'usage'), facts)
  }

  keep(event: unknown, kept: KeptAnswer): void {
    keepChoices(memberOf(event, 'choices'), kept)
  }

  isUsageOnly(event: unknown): boolean {
    const choices = memberOf(event, 'choices')
    return Array.isArray(choices) && choices.length === 0 && memberOf(event, 'usage') != null
  }

  formatBreak(message: string): string {
    return `data: ${formatCompletionsError(502, 'upstream-failed', message)}\n\n`
  }
}
