import { toByteText } from '#base/byte-text.ts'
import { CallError, type CallResponse } from '#exchange/call.ts'
import type { BodyClaim } from '#net/body/body-memory.ts'
import { PumpedBody } from '#net/body/pumped-body.ts'
import { isFieldValue } from '#net/http/field-syntax.ts'
import type { Abort, BodySink, BodySource } from '#net/stream.ts'
import { type SseEvent, SseParser } from '#protocols/http/sse.ts'
import type { Message } from '../message/json-rpc.ts'
import type { MessageReader, TargetMessage } from '../message/target-reply.ts'
import { holdPiece, MAX_MESSAGE_BYTES, readMessage } from './read-message.ts'
import { TargetStreamError } from './target-stream-error.ts'

/** Memory of untaken messages above which reading from the target pauses, in bytes. */
const MAX_WAITING_BYTES = 262_144

const DONE = { done: true, value: undefined } as const

/** The messages of an event stream of a target. Most streams are silent for long, so one that waits has plain state and no generator. */
export class TargetEvents implements AsyncIterableIterator<TargetMessage>, BodySink {
  source: BodySource | null = null
  readonly takesFramed = false
  readonly #body: { pipe(sink: BodySink): void; cancel(): void }
  readonly #claim: BodyClaim
  /** Created with the first piece. */
  #parser: SseParser | undefined
  /** The last events, and how many of them have been taken. */
  #events: SseEvent[] | undefined
  #taken = 0
  #heldBytes = 0
  #keptBytes = 0
  /** Waits for the next message. */
  #reader: MessageReader | undefined
  /** Nothing more arrives. */
  #isOver = false
  #failure: { readonly error: unknown } | undefined

  constructor(body: CallResponse['body'], claim: BodyClaim) {
    this.#claim = claim
    this.#body = 'pipe' in body ? body : new PumpedBody(body, (error) => this.#fail(error))
    this.#body.pipe(this)
  }

  [Symbol.asyncIterator](): this {
    return this
  }

  next(): Promise<IteratorResult<TargetMessage>> {
    return new Promise((resolve, reject) => this.read(new PromisedMessage(resolve, reject)))
  }

  /** The same without a promise. `reader` gets one message, now or later, before another one may be read. */
  read(reader: MessageReader): void {
    this.#reader = reader
    this.#goOn()
  }

  /** Gives the rest up, also while a message is awaited. */
  return(): Promise<IteratorResult<TargetMessage>> {
    this.#events = undefined
    this.#failure = undefined
    this.end()
    this.#body.cancel()
    return Promise.resolve(DONE)
  }

  /** An unfinished event is read on, however large it is. */
  get backed(): boolean {
    return this.#events !== undefined && this.#heldBytes >= MAX_WAITING_BYTES
  }

  bytes(buffer: Buffer, start: number, end: number): void {
    if (this.#isOver) return
    try {
      const piece = buffer.subarray(start, end)
      this.#heldBytes += holdPiece(this.#claim, piece)
      this.#parser ??= new SseParser(MAX_MESSAGE_BYTES)
      const events = this.#parser.push(piece)
      if (events.length === 0) return
      if (this.#events === undefined) this.#events = events
      else for (const event of events) this.#events.push(event)
    } catch (error) {
      return this.#breakOff(error)
    }
    this.#goOn()
  }

  end(): void {
    this.#isOver = true
    this.#goOn()
  }

  abort(why: Abort): void {
    this.#fail(new CallError(why))
  }

  /** What has arrived can still be read. */
  #fail(error: unknown): void {
    if (!this.#isOver) this.#endWith(error)
  }

  /** The target broke the protocol, or a limit is exceeded: nobody reads the rest. */
  #breakOff(error: unknown): void {
    this.#endWith(error)
    this.#body.cancel()
  }

  #endWith(error: unknown): void {
    this.#failure = { error }
    this.end()
  }

  #goOn(): void {
    const reader = this.#reader
    if (reader === undefined) return
    const event = this.#events?.[this.#taken]
    if (event !== undefined) return this.#deliver(event, reader)
    this.#drained()
    if (!this.#isOver) return
    this.#giveBack(0)
    const failure = this.#failure
    this.#failure = undefined
    this.#reader = undefined
    if (failure === undefined) reader.ended()
    else reader.failed(failure.error)
  }

  #deliver({ data, id, retryMs }: SseEvent, reader: MessageReader): void {
    this.#taken++
    let message: Message | undefined
    let eventId: string | undefined
    try {
      message = data === '' ? undefined : readMessage(data)
      eventId = id === undefined ? undefined : readEventId(id)
    } catch (error) {
      this.#events = undefined
      return this.#breakOff(error)
    }
    const keep = () => {
      this.#keptBytes += data.length
    }
    this.#reader = undefined
    reader.message({ message, eventId, retryMs, keep })
  }

  /** All events have been taken, and the next one is wanted. */
  #drained(): void {
    if (this.#events === undefined) return
    const wasBacked = this.backed
    this.#events = undefined
    this.#taken = 0
    // All pieces of an unfinished event are still held.
    this.#giveBack(this.#parser!.held)
    if (wasBacked && !this.#isOver) this.source?.resume()
  }

  /** Releases all memory that is no longer needed. */
  #giveBack(neededBytes: number): void {
    const needed = Math.min(this.#heldBytes, neededBytes + this.#keptBytes)
    this.#claim.give(this.#heldBytes - needed)
    this.#heldBytes = needed
  }
}

class PromisedMessage implements MessageReader {
  readonly #resolve: (result: IteratorResult<TargetMessage>) => void
  readonly failed: (error: unknown) => void

  constructor(resolve: (result: IteratorResult<TargetMessage>) => void, reject: (error: unknown) => void) {
    this.#resolve = resolve
    this.failed = reject
  }

  message(received: TargetMessage): void {
    this.#resolve({ done: false, value: received })
  }

  ended(): void {
    this.#resolve(DONE)
  }
}

/** The gateway keeps the last event id of each target, and clients return it in a header field. */
const MAX_EVENT_ID_BYTES = 4096

/**
 * The id of an event of a target, as byte text: the form in which `Last-Event-ID` has it (WHATWG HTML, 9.2.4).
 * @throws TargetStreamError if no client could return it
 */
function readEventId(id: string): string {
  const byteText = toByteText(id)
  if (byteText.length > MAX_EVENT_ID_BYTES) {
    const limit = `the limit is ${MAX_EVENT_ID_BYTES} bytes, which no field sets`
    throw new TargetStreamError('the target sent an event id that is too long', limit)
  }
  if (!isFieldValue(byteText)) throw new TargetStreamError('the target sent an event id with control characters')
  return byteText
}
