import type { GuardLoad } from '#exchange/guard-load.ts'
import { asBuffer } from '#net/body/as-buffer.ts'
import type { BodyClaim } from '#net/body/body-memory.ts'
import { encode, type Splice } from '../../json/splice.ts'
import type { StringPlace } from './event-reader.ts'
import type { GuardedBlock, StreamPiece } from './guarded-block.ts'

/** A text of an event, and where it is in the data of the event. */
export interface EventPiece extends StreamPiece, StringPlace {
  /** Undefined: no guard checks it. */
  readonly block: GuardedBlock | undefined
  /** `released` is JSON, not the text of a string. */
  readonly isJson?: boolean
}

/** An event, and where its JSON is. */
export interface GuardedEvent {
  readonly buffer: Buffer
  readonly start: number
  readonly end: number
  /** The start of its JSON, relative to `start`; -1: it has none. */
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
export function spliceOf({ dataStart }: GuardedEvent, { start, end, released, isJson = false }: EventPiece): Splice {
  const text = encode(isJson ? released! : JSON.stringify(released))
  return { start: dataStart + start, end: dataStart + end, text }
}

/** How many of the first pieces have passed. */
export function countPassed(event: HeldEvent): number {
  const { pieces } = event
  while (event.passed < pieces.length && pieces[event.passed]!.released !== undefined) event.passed++
  return event.passed
}

/** Events that are held at the same time share buffers of this size. */
const SHARED_BYTES = 4096

export interface HeldEventsOptions {
  readonly claim: BodyClaim
  /** Limit of all waiting events together; a longer event is accepted if no other one waits. */
  readonly maxBytes: number
  readonly load: GuardLoad
}

/** The events of one stream that wait, in their order. */
export class HeldEvents {
  readonly #queue: HeldEvent[] = []
  readonly #options: HeldEventsOptions
  #bytes = 0
  /** The buffer for the next event. */
  #buffer: Buffer | undefined
  #used = 0

  constructor(options: HeldEventsOptions) {
    this.#options = options
  }

  /** The bytes of all events. */
  get bytes(): number {
    return this.#bytes
  }

  get isEmpty(): boolean {
    return this.#queue.length === 0
  }

  get first(): HeldEvent | undefined {
    return this.#queue[0]
  }

  /** Keeps an event with a copy of its bytes. @returns false if there is no room */
  hold({ buffer: lent, start: from, end: to, dataStart, dataLength, pieces }: GuardedEvent): boolean {
    const length = to - from
    if (!this.#take(length)) return false
    if (this.#buffer === undefined || this.#used + length > this.#buffer.length) {
      this.#buffer = asBuffer(new Uint8Array(Math.max(SHARED_BYTES, length)))
      this.#used = 0
    }
    const [buffer, start] = [this.#buffer, this.#used]
    lent.copy(buffer, start, from, to)
    this.#used += length
    this.#queue.push({ buffer, start, end: this.#used, dataStart, dataLength, pieces, passed: 0 })
    return true
  }

  takeFirst(): HeldEvent {
    const event = this.#queue.shift()!
    this.#give(event.end - event.start)
    return event
  }

  drop(): void {
    this.#queue.length = 0
    this.#buffer = undefined
    this.#give(this.#bytes)
  }

  #take(bytes: number): boolean {
    const { claim, maxBytes, load } = this.#options
    if ((this.#bytes > 0 && this.#bytes + bytes > maxBytes) || !claim.take(bytes)) return false
    this.#bytes += bytes
    load.change(bytes)
    return true
  }

  #give(bytes: number): void {
    const { claim, load } = this.#options
    this.#bytes -= bytes
    claim.give(bytes)
    load.change(-bytes)
  }
}
