import type { LlmFacts } from '#exchange/llm-facts.ts'
import { readsAt } from './json/reads-at.ts'
import type { KeptAnswer } from './kept-answer.ts'

/**
 * The event streams of a dialect; one object per stream. `piece` has whole blocks; `start` is the start of the block, `data` the start of
 * the text of its first data line.
 */
export interface StreamFormat {
  /** The provider ends the stream: an end mark, or its own error event. */
  isEnd(piece: Uint8Array, start: number, data: number): boolean
  /** The block has output of the model; called until the first one. */
  isOutput(piece: Uint8Array, start: number, data: number): boolean
  /** Key of a member whose value indicates a complete response even without an end mark; empty if there is none. */
  readonly finishMember: string
  /** Every event is read, not only those with usage. */
  readonly readsAll: boolean
  /** Reads facts from an event: from the first one, and from those with usage. */
  read(event: unknown, facts: LlmFacts): void
  /** Keeps output of the model; called only if something reads it, and then for every event. */
  keep(event: unknown, kept: KeptAnswer): void
  /** The event exists only because usage was requested. Without it: there is no such event. */
  isUsageOnly?(event: unknown): boolean
  /** Text of the event that ends a broken stream; `events` is the number of earlier events (decision B31). */
  formatBreak(message: string, events: number): string
}

/** Whether the block is an event of that type: by its event line, or without one by a leading `type` member in its JSON. */
export function isEventOf(piece: Uint8Array, start: number, data: number, type: string): boolean {
  if (start !== data && readsAt(piece, start, 'event:')) {
    const at = piece[start + 6] === 0x20 ? start + 7 : start + 6
    return readsAt(piece, at, type) && isLineEnd(piece[at + type.length])
  }
  return readsAt(piece, data, `{"type":"${type}"`) || readsAt(piece, data, `{"type": "${type}"`)
}

function isLineEnd(byte: number | undefined): boolean {
  return byte === 0x0a || byte === 0x0d
}
