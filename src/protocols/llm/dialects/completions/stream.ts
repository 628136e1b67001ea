import type { LlmFacts } from '#exchange/llm-facts.ts'
import { noteFinish } from '../../facts/finish-reasons.ts'
import type { KeptAnswer } from '../../facts/kept-answer.ts'
import { noteNames, noteTier } from '../../facts/note-names.ts'
import type { StreamFormat } from '../../facts/stream-format.ts'
import { wantedMembers } from '../../json/member-reader.ts'
import { elementsOf, memberOf, textAt } from '../../json/read-value.ts'
import { readsAt } from '../../json/reads-at.ts'
import type { SseBlock } from '../../sse/sse-block.ts'
import { CallsOfChoices } from '../../texts/call-numbers.ts'
import { formatError } from './errors.ts'
import { keepChoices } from './keep-answer.ts'
import { readCompletionsUsage } from './response.ts'

const MEMBERS = wantedMembers(['type', 'id', 'model', 'service_tier', 'usage', 'error'])

/** Streams of chat completion chunks, ended by `[DONE]`. */
export class CompletionsStream implements StreamFormat {
  readonly finishMember = 'finish_reason'
  readonly readsAll = false
  readonly members = MEMBERS
  readonly #calls = new CallsOfChoices()

  isEnd({ bytes, dataStart }: SseBlock): boolean {
    return readsAt(bytes, dataStart, '[DONE]')
  }

  isOutput(event: unknown): boolean {
    return hasOutput(event)
  }

  read(event: unknown, facts: LlmFacts): void {
    noteNames(textAt(event, 'id'), textAt(event, 'model'), facts)
    for (const choice of elementsOf(memberOf(event, 'choices'))) noteFinish(memberOf(choice, 'finish_reason'), facts)
    noteTier(textAt(event, 'service_tier'), facts)
    readCompletionsUsage(memberOf(event, 'usage'), facts)
  }

  keep(event: unknown, kept: KeptAnswer): void {
    keepChoices(memberOf(event, 'choices'), kept, this.#calls)
  }

  isUsageOnly(event: unknown): boolean {
    const choices = memberOf(event, 'choices')
    return Array.isArray(choices) && choices.length === 0 && memberOf(event, 'usage') != null
  }

  formatBreak(message: string): string {
    return this.formatRefusal(502, 'upstream-failed', message)
  }

  formatRefusal(status: number, code: string, message: string): string {
    return `data: ${formatError({ status, type: undefined, message, code, param: undefined })}\n\n`
  }
}

/** Members of a message with output of the model. Some providers add those with its thoughts. */
const OUTPUT = ['content', 'refusal', 'tool_calls', 'function_call', 'reasoning_content', 'reasoning', 'audio']

/** Whether a chunk has more than a role. Empty texts are no output. */
export function hasOutput(chunk: unknown): boolean {
  return elementsOf(memberOf(chunk, 'choices')).some((choice) => {
    const delta = memberOf(choice, 'delta')
    return OUTPUT.some((key) => !isEmpty(memberOf(delta, key))) || !isEmpty(memberOf(choice, 'text'))
  })
}

function isEmpty(value: unknown): boolean {
  return value === undefined || value === null || value === '' || (Array.isArray(value) && value.length === 0)
}
