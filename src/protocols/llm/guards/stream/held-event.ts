import { asBuffer } from '#net/body/as-buffer.ts'
import { encode, type Splice } from '../../json/splice.ts'
import type { StringPlace } from './event-reader.ts'
import type { GuardedBlock, StreamPiece } from './guarded-block.ts'

/** A text of an event, and where it is in the data of the event. */
export interface EventPiece extends StreamPiece, StringPlace {
  readonly block: GuardedBlock
}

/** An event, and where its JSON is. */
export interface GuardedEvent {
  readonly buffer: Buffer
  readonly start: number
  readonly end: number
  /** Of its JSON, from its start; -1: it has none. */
  readonly dataStart: number
  readonly dataLength: number
  readonly pieces: readonly EventPiece[]
}

/** An event that waits for the guards, or for events before it. */
export interface HeldEvent extends GuardedEvent {
  /** How many of the first pieces have passed. */
  passed: number
}

/** An event that has a buffer of its own. */
export function wholeEvent(
  bytes: Uint8Array,
  dataStart: number,
  dataLength: number,
  pieces: readonly EventPiece[],
): GuardedEvent {
  return { buffer: asBuffer(bytes), start: 0, end: bytes.length, dataStart, dataLength, pieces }
}

export function bytesOf({ buffer, start, end }: GuardedEvent): Uint8Array {
  return buffer.subarray(start, end)
}

/** The edit that writes what the client gets of a text. */
export function spliceOf({ dataStart }: GuardedEvent, { start, end, released }: EventPiece): Splice {
  return { start: dataStart + start, end: dataStart + end, text: encode(JSON.stringify(released)) }
}

/** How many of the first pieces have passed. */
export function countPassed(event: HeldEvent): number {
  const { pieces } = event
  while (event.passed < pieces.length && pieces[event.passed]!.released !== undefined) event.passed++
  return event.passed
}
