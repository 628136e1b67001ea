import type { LlmFacts } from '#exchange/llm-facts.ts'
import type { WantedMembers } from '../json/member-reader.ts'
import { readsAt } from '../json/reads-at.ts'
import type { SseBlock } from '../sse/sse-block.ts'
import type { KeptAnswer } from './kept-answer.ts'

/** The event streams of a dialect; one object per stream. */
export interface StreamFormat {
  /** The provider ends the stream. */
  isEnd(block: SseBlock): boolean
  /** The event has output of the model: text, thoughts, a call or a refusal. Called until the first one. */
  isOutput(event: unknown): boolean
  /** Key of a member whose value indicates a complete response even without an end mark; empty if there is none. */
  readonly finishMember: string
  /** Every event is read, not only those with usage. */
  readonly readsAll: boolean
  /** Paths of all members that `read` reads. Of an event that is too long to be parsed, only they are read. */
  readonly members: WantedMembers
  /** Reads facts from an event: from the first one, and from those with usage. */
  read(event: unknown, facts: LlmFacts): void
  /** Keeps output of the model; called only if something reads it, and then for every event. */
  keep(event: unknown, kept: KeptAnswer): void
  /** The event exists only because usage was requested. Without it: there is no such event. */
  isUsageOnly?(event: unknown): boolean
  /** Text of the event that ends a broken stream; `events` is the number of earlier events (decision B31). */
  formatBreak(message: string, events: number): string
  /** Text of the event with which the gateway ends a stream that it refuses (decision B47). */
  formatRefusal(status: number, code: string, message: string, events: number): string
}

const TYPE_MEMBER = '{"type":'

/** Whether the block is an event of that type: by its event line, or without one by a leading `type` member in its JSON. */
export function isEventOf(block: SseBlock, type: string): boolean {
  if (block.nameEnd > block.nameStart) return block.isNamed(type)
  const { bytes, dataStart } = block
  if (!readsAt(bytes, dataStart, TYPE_MEMBER)) return false
  const value = dataStart + TYPE_MEMBER.length
  return readsAt(bytes, bytes[value] === 0x20 ? value + 1 : value, `"${type}"`)
}
