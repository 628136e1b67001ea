import { Pace, type Steps } from '#base/in-slices.ts'
import { parseJson } from '#base/parse-json.ts'
import type { BodySink } from '#net/stream.ts'
import { replaceByString } from '../../json/json-pieces.ts'
import { decodeText } from '../../json/native.ts'
import { applySplices, type Splice, spliceInSteps } from '../../json/splice.ts'
import { isEndMark } from './clean-event.ts'
import type { GuardingOptions } from './guarded-stream-options.ts'
import {
  bytesOf,
  countPassed,
  type EventPiece,
  type GuardedEvent,
  HeldEvents,
  spliceOf,
  wholeEvent,
} from './held-events.ts'

/** Longer events are read and written in slices. */
export const LONG_EVENT_BYTES = 4096

/** The work for a text that is written, besides its characters. */
const WORK_PER_PIECE = 32

/** An event with more texts is written in slices. */
const FEW_PIECES = 16

/** Sends checked events to the client: each when all its texts, and all events before it, have passed. */
export class EventOutbox {
  readonly #sink: BodySink
  readonly #options: GuardingOptions
  readonly #held: HeldEvents
  #hasBegun = false
  #isOver = false

  constructor(sink: BodySink, options: GuardingOptions) {
    this.#sink = sink
    this.#options = options
    const { claim, maxEventBytes: maxBytes, exchange } = options
    this.#held = new HeldEvents({ claim, maxBytes, load: exchange.context.guardLoad })
  }

  /** The bytes of the waiting events. */
  get bytes(): number {
    return this.#held.bytes
  }

  get isEmpty(): boolean {
    return this.#held.isEmpty
  }

  /** A verdict or a pause will release text of the first event. */
  get isAsking(): boolean {
    return this.#held.first?.pieces.some(({ block }) => block?.isAsking === true) === true
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
        if (!isChanged(piece)) continue
        const { dataStart } = event
        if (piece.isJson) splices.push(spliceOf(event, piece))
        else yield* replaceByString(splices, dataStart + piece.start, dataStart + piece.end, piece.released!)
        if (pace.after(piece.original.length)) yield
      }
      const out = yield* spliceInSteps(bytesOf(event), splices, pace)
      if (!this.#isOver) this.#sendChanged(event, out)
    }
  }

  /** Sends the first events that have passed, up to one that is long or has many texts. @returns whether that one has passed, too */
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

  /** Nothing more is sent. */
  drop(): void {
    this.#isOver = true
    this.#held.drop()
  }

  #sendShort(event: GuardedEvent): void {
    if (isUnchanged(event)) return this.#send(event)
    const changed = event.pieces.filter(isChanged)
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

  /** Expressions read an event as the client gets it. */
  #keep(buffer: Buffer, start: number, end: number): void {
    const { kept, stream } = this.#options
    if (kept === undefined || kept.isFull || isEndMark(buffer, start, end)) return
    stream.keep(parseJson(decodeText(buffer, start, end)), kept)
  }
}

function isUnchanged({ pieces }: GuardedEvent): boolean {
  return !pieces.some(isChanged)
}

function isChanged({ released, original }: EventPiece): boolean {
  return released !== original
}
