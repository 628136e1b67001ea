import type { Exchange } from '#exchange/exchange.ts'
import { type Refusal, reject } from '#exchange/outcome.ts'
import { refuseLargeBody } from '#exchange/refuse-large-body.ts'
import { asBuffer } from '#net/body/as-buffer.ts'
import type { CollectLimits } from '#net/body/collect-body.ts'
import { ForwardingSink } from '#net/body/forwarding-sink.ts'
import type { EventFrame } from '#net/event-stream/event-frame.ts'
import { type BadFrame, EventReader } from '#net/event-stream/event-reader.ts'
import type { Head } from '#net/http/head.ts'
import { type Abort, BODY_CHUNKED, BODY_NONE, type BodySink, type SendableBody } from '#net/stream.ts'
import { type EventSigner, SIGNATURE_HEADER } from './event-signer.ts'

const EVENT_STREAM = /^application\/vnd\.amazon\.eventstream[ \t]*(?:;[^,]*)?$/i
const END = new Uint8Array(0)

/** Whether the body of a request is an event stream, whose events AWS verifies one by one. */
export function isEventStream(request: Head): boolean {
  return EVENT_STREAM.test(request.joined('content-type') ?? '')
}

/** An event stream whose events are signed while it is sent. No event waits for the next one. */
export class SignedEvents implements SendableBody {
  readonly kind = BODY_CHUNKED
  readonly length = -1
  readonly #body: SendableBody
  readonly #open: (sink: BodySink) => SigningSink

  /** @param limits of a single event */
  constructor(body: SendableBody, limits: CollectLimits, signer: EventSigner, exchange: Exchange) {
    this.#body = body
    this.#open = (sink) => new SigningSink(sink, limits, signer, exchange)
  }

  pipe(sink: BodySink): void {
    const signing = this.#open(sink)
    if (this.#body.kind === BODY_NONE) signing.end()
    else this.#body.pipe(signing)
  }
}

/** A body that is not an event stream ends the request. */
class SigningSink extends ForwardingSink {
  readonly #signer: EventSigner
  readonly #exchange: Exchange
  readonly #maxBytes: number
  readonly #reader: EventReader
  #over = false

  constructor(sink: BodySink, { claim, maxBytes }: CollectLimits, signer: EventSigner, exchange: Exchange) {
    super(sink)
    this.#signer = signer
    this.#exchange = exchange
    this.#maxBytes = maxBytes
    this.#reader = new EventReader(claim, maxBytes, (frame) => this.#forward(frame))
  }

  override get backed(): boolean {
    return this.#over || super.backed
  }

  override bytes(buffer: Buffer, start: number, end: number): void {
    if (this.#over) return
    const bad = this.#reader.read(buffer, start, end)
    if (bad !== undefined) this.#refuse(this.#refusalOf(bad))
  }

  override end(): void {
    if (this.#over) return
    if (!this.#reader.atBoundary) {
      return this.#refuse(reject('malformed-request', { detail: 'the event stream ends within a frame' }))
    }
    this.#send(END)
    this.#over = true
    super.end()
  }

  override abort(why: Abort): void {
    if (this.#over) return
    this.#over = true
    super.abort(why)
  }

  /** Clients that sign their events have put each into a frame with their signature, and sign an empty one at the end. */
  #forward(frame: EventFrame): void {
    if (this.#over) return
    if (!frame.has(SIGNATURE_HEADER)) this.#send(frame.bytes)
    else if (frame.payloadEnd > frame.payloadStart) this.#send(frame.payload)
  }

  #send(event: Uint8Array): void {
    const signed = this.#signer.sign(event, this.#exchange.context.now())
    super.bytes(asBuffer(signed), 0, signed.length)
  }

  #refusalOf({ why, detail }: BadFrame): Refusal {
    if (why === 'too-large') return refuseLargeBody('body-too-large', this.#maxBytes)
    if (why === 'no-memory') return reject('body-memory-exhausted', { detail })
    return reject('malformed-request', { detail: `the event stream is malformed: ${detail}` })
  }

  #refuse(refusal: Refusal): void {
    this.#over = true
    this.#exchange.context.interrupt(refusal)
    // For calls, which nothing interrupts.
    super.abort('protocol-error')
  }
}
