import { Pace, type Steps } from '#base/in-slices.ts'
import { parseJson } from '#base/parse-json.ts'
import type { BodySink } from '#net/stream.ts'
import { replaceByString } from '../../json/json-pieces.ts'
import { decodeText } from '../../json/native.ts'
import { applySplices, type Splice, spliceInSteps } from '../../json/splice.ts'
import { isEndMark } from './clean-event.ts'
import type { GuardingOptions } from './guarded-stream-options.ts'
import { bytesOf, countPassed, type EventPiece, type GuardedEvent, spliceOf, wholeEvent } from './held-event.ts'
import { HeldEvents } from './held-events.ts'

/** Longer events are read and written in slices. */
export const LONG_EVENT_BYTES = 4096

/** The work for a text that is written, besides its characters. */
const WORK_PER_PIECE = 32

/** An event with more texts is written in slices. */
const FEW_PIECES = 16

/** The way of checked events to the client: each leaves when all its texts, and all events before it, have passed. */
export class EventOutbox {
  readonly #sink: BodySink
  readonly #options: GuardingOptions
  readonly #held: HeldEvents
  #hasBegun = false
  #isOver = false

  constructor(sink: BodySink, options: GuardingOptions) {
    this.#sink = sink
    this.#options = options
    this.#held = new HeldEvents(options.exchange.context.guardLoad)
  }

  /** Of the events that wait. */
  get bytes(): number {
    return this.#held.bytes
  }

  get isEmpty(): boolean {
    return this.#held.isEmpty
  }

  /** The first text that has not passed. */
  get firstPiece(): EventPiece | undefined {
    return this.#held.firstPiece
  }

  /** A verdict or a pause lets the first event leave. */
  get isAsking(): boolean {
    return this.#held.first?.pieces.some(({ block }) => block.isAsking) === true
  }

  /** Sends an event, or keeps it behind those that wait. @returns false if there is no room */
  push(event: GuardedEvent): boolean {
    if (!this.#held.isEmpty || !isUnchanged(event)) return this.#held.hold(event)
    this.#send(event)
    return true
  }

  /** Sends the first events that have passed. */
  *drain(): Steps<void> {
    while (this.drainShort()) {
      const event = this.#held.takeFirst()
      const pace = new Pace()
      const splices: Splice[] = []
      for (const piece of event.pieces) {
        if (pace.after(WORK_PER_PIECE)) yield
        if (piece.released === piece.original) continue
        const { dataStart } = event
        yield* replaceByString(splices, dataStart + piece.start, dataStart + piece.end, piece.released!)
        if (pace.after(piece.original.length)) yield
      }
      const out = yield* spliceInSteps(bytesOf(event), splices, pace)
      if (!this.#isOver) this.#sendChanged(event, out)
    }
  }

  /** The same as far as they are short and have few texts. @returns whether another one has passed */
  drainShort(): boolean {
    while (!this.#isOver) {
      const event = this.#held.first
      if (event === undefined || countPassed(event) < event.pieces.length) return false
      if (event.pieces.length > FEW_PIECES || event.end - event.start > LONG_EVENT_BYTES) return true
      this.#held.takeFirst()
      this.#sendShort(event)
    }
    return false
  }

  /** Nothing leaves any more. */
  drop(): void {
    this.#isOver = true
    this.#held.drop()
  }

  #sendShort(event: GuardedEvent): void {
    if (isUnchanged(event)) return this.#send(event)
    const changed = event.pieces.filter(({ released, original }) => released !== original)
    const splices = changed.map((piece) => spliceOf(event, piece))
    this.#sendChanged(event, applySplices(bytesOf(event), splices))
  }

  /** @param out the event as it is now */
  #sendChanged({ start, end, dataStart, dataLength, pieces }: GuardedEvent, out: Uint8Array): void {
    this.#send(wholeEvent(out, dataStart, dataLength + out.length - (end - start), pieces))
  }

  #send({ buffer, start, end, dataStart, dataLength, pieces }: GuardedEvent): void {
    if (dataLength > 0) this.#keep(buffer, start + dataStart, start + dataStart + dataLength)
    this.#sink.bytes(buffer, start, end)
    if (this.#hasBegun || pieces.every(({ original }) => original === '')) return
    this.#hasBegun = true
    this.#options.begin()
  }

  /** What the client gets is what expressions see. */
  #keep(buffer: Buffer, start: number, end: number): void {
    const { kept, stream } = this.#options
    if (kept === undefined || kept.isFull || isEndMark(buffer, start, end)) return
    stream.keep(parseJson(decodeText(buffer, start, end)), kept)
  }
}

function isUnchanged({ pieces }: GuardedEvent): boolean {
  return pieces.every(({ released, original }) => released === original)
}
