import type { LlmFacts } from '#exchange/llm-facts.ts'
import { noteFinish } from '../../facts/finish-reasons.ts'
import type { KeptAnswer } from '../../facts/kept-answer.ts'
import { noteNames } from '../../facts/note-names.ts'
import { isEventOf, type StreamFormat } from '../../facts/stream-format.ts'
import { wantedMembers } from '../../json/member-reader.ts'
import { memberOf, objectAt, textAt } from '../../json/read-value.ts'
import type { SseBlock } from '../../sse/sse-block.ts'
import { formatError } from './errors.ts'
import { keepBlockEvent } from './keep-answer.ts'
import { MessagesUsage } from './response.ts'

const MEMBERS = wantedMembers([
  ...['type', 'message.id', 'message.model', 'message.usage', 'delta.stop_reason', 'usage', 'error'],
])

function isEmptyText(content: unknown): boolean {
  return textAt(content, 'text') === '' || textAt(content, 'thinking') === ''
}

/** Streams of the messages API, ended by `message_stop`. */
export class MessagesStream implements StreamFormat {
  readonly finishMember = 'stop_reason'
  readonly readsAll = false
  readonly members = MEMBERS
  readonly #usage = new MessagesUsage()

  isEnd(block: SseBlock): boolean {
    return isEventOf(block, 'message_stop')
  }

  /** Only texts and thoughts begin empty: the start of a call has its name, and that of a redacted thought all of it. */
  isOutput(event: unknown): boolean {
    const type = textAt(event, 'type')
    if (type === 'content_block_delta') return !isEmptyText(memberOf(event, 'delta'))
    const block = memberOf(event, 'content_block')
    return type === 'content_block_start' && textAt(block, 'type') !== undefined && !isEmptyText(block)
  }

  read(event: unknown, facts: LlmFacts): void {
    const message = objectAt(event, 'message')
    noteNames(textAt(message, 'id'), textAt(message, 'model'), facts)
    noteFinish(memberOf(memberOf(event, 'delta'), 'stop_reason'), facts)
    this.#usage.read(memberOf(message, 'usage') ?? memberOf(event, 'usage'), facts)
  }

  keep(event: unknown, kept: KeptAnswer): void {
    keepBlockEvent(event, kept)
  }

  formatBreak(message: string): string {
    return this.formatRefusal(502, 'upstream-failed', message)
  }

  formatRefusal(status: number, code: string, message: string): string {
    const error = formatError({ status, type: undefined, message, code, param: undefined })
    return `event: error\ndata: ${error}\n\n`
  }
}
