import type { LlmFacts } from '#exchange/llm-facts.ts'
import { readsAt } from './json/reads-at.ts'
import type { KeptAnswer } from './kept-answer.ts'

/**
 * What a dialect knows of its event streams; one object per stream. `piece` holds whole blocks; `start` is where the block begins,
 * `data` where the text of its first data line does.
 */
export interface StreamFormat {
  /** The provider says that nothing follows: an end mark, or its own error event. */
  isEnd(piece: Uint8Array, start: number, data: number): boolean
  /** The block carries output of the model; asked until the first one. */
  isOutput(piece: Uint8Array, start: number, data: number): boolean
  /** Key of a member whose value says that the answer is complete although no end mark follows; empty without one. */
  readonly finishMember: string
  /** Every event is read, not only those with usage. */
  readonly readsAll: boolean
  /** Takes facts from an event: of the first one, and of those with usage. */
  read(event: unknown, facts: LlmFacts): void
  /** Takes what the model writes; only while something reads it, and then of every event. */
  keep(event: unknown, kept: KeptAnswer): void
  /** The event exists only because usage was asked for. */
  isUsageOnly(event: unknown): boolean
  /** Text of the event that ends a stream which broke off; `events` have gone before (decision B31). */
  formatBreak(message: string, events: number): string
}

/** Whether the block is an event of that type: by its event line, or where none is sent by the `type` that leads its JSON. */
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
