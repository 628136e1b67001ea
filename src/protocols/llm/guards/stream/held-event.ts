import { encode, type Splice } from '../../json/splice.ts'
import type { StringPlace } from './event-reader.ts'
import type { GuardedBlock, StreamPiece } from './guarded-block.ts'

/** A text of an event, and where it is in the data of the event. */
export interface EventPiece extends StreamPiece {
  readonly place: StringPlace
  readonly key: string
  readonly block: GuardedBlock
}

/** An event that waits for the guards, or for events before it. */
export interface HeldEvent {
  readonly bytes: Uint8Array
  /** Of its JSON within `bytes`; -1: it has none. */
  readonly dataStart: number
  readonly dataEnd: number
  readonly pieces: readonly EventPiece[]
  /** How many of the first pieces have passed. */
  passed: number
}

/** The edit that writes what the client gets of a text. */
export function spliceOf({ dataStart }: HeldEvent, { place, released }: EventPiece): Splice {
  return { start: dataStart + place.start, end: dataStart + place.end, text: encode(JSON.stringify(released)) }
}

/** How many of the first pieces have passed. */
export function countPassed(event: HeldEvent): number {
  const { pieces } = event
  while (event.passed < pieces.length && pieces[event.passed]!.released !== undefined) event.passed++
  return event.passed
}
