import type { ClientHttp2Stream } from 'node:http2'
import { BodyClaim, type BodyMemory } from '../body/body-memory.ts'
import { HeldBytes } from '../body/held-bytes.ts'
import type { Head } from '../http/head.ts'
import { MAX_SENT_HEAD_BYTES } from '../limits.ts'
import {
  type Abort,
  BODY_LENGTH,
  BODY_NONE,
  type BodyKind,
  type BodySink,
  type BodySource,
  type Framing,
  type TrailerGate,
} from '../stream.ts'
import { fieldObject, objectBytes } from './heads.ts'

/** The exchange of a request. */
export interface RequestWriterOwner {
  /** The whole message was received from its source. */
  messageWritten(): void
  /** The source aborted, or its length differs from the announced one: the request must not look complete. */
  messageCut(why: Abort): void
}

/** Maximum size of a body that is kept until the response begins, so that the request can be sent again. */
const MAX_KEPT_BYTES = 65_536

const WRITER = Symbol('writer')

/** Holds its writer only until the end of the exchange: Node keeps a stream long after that. */
interface WrittenStream extends ClientHttp2Stream {
  [WRITER]?: RequestWriter | null
}

/** Sends the body of a request: buffers it until there is a stream, then sends it as it arrives. */
export class RequestWriter implements BodySink {
  source: BodySource | null = null
  readonly takesFramed = false
  /** Pauses the source until there is a stream. */
  backed = true
  readonly kind: BodyKind
  /** Body bytes received from the source. */
  sentBytes = 0
  readonly #owner: RequestWriterOwner
  #stream: WrittenStream | null = null
  /** The body is not complete. */
  open: boolean
  #left: number
  /** The body so far, for a replay; undefined if there is no body or no replay is possible. */
  #kept: HeldBytes | undefined
  #isWhole = true
  readonly #gate: TrailerGate | undefined
  #trailers: Record<string, string[]> = {}

  constructor(owner: RequestWriterOwner, { kind, length, trailers }: Framing, memory: BodyMemory) {
    this.#owner = owner
    this.kind = kind
    this.#gate = trailers
    this.open = kind !== BODY_NONE
    if (this.open) this.#kept = new HeldBytes(new BodyClaim(memory), MAX_KEPT_BYTES, length)
    this.#left = kind === BODY_LENGTH ? length : 0
  }

  /** Trailers may follow. */
  get mayTrail(): boolean {
    return this.#gate !== undefined && this.kind !== BODY_NONE
  }

  /** Whether all received bytes can be sent again. */
  get isWhole(): boolean {
    return this.#isWhole
  }

  /** Sends the buffered bytes, then further bytes, on `stream`. */
  attach(stream: WrittenStream): void {
    this.#detach()
    this.#stream = stream
    if (this.kind === BODY_NONE) return
    stream[WRITER] = this
    stream.on('drain', RequestWriter.#onDrain)
    if (this.mayTrail) stream.on('wantTrailers', RequestWriter.#onWantTrailers)
    if (this.#kept !== undefined && this.#kept.length > 0) stream.write(this.#kept.bytes)
    if (!this.open) stream.end()
    else if (!stream.writableNeedDrain) this.#flow()
  }

  /** Drops the kept bytes, because no replay is needed. */
  forgetWhole(): void {
    this.#isWhole = false
    this.#kept?.drop()
    this.#kept = undefined
  }

  bytes(buffer: Buffer, start: number, end: number): void {
    if (!this.open || start === end) return
    if (this.kind === BODY_LENGTH) {
      this.#left -= end - start
      if (this.#left < 0) return this.abort('protocol-error')
    }
    this.sentBytes += end - start
    const kept = this.#keep(buffer, start, end)
    const stream = this.#stream
    if (stream !== null && !stream.write(kept ?? Buffer.from(buffer.subarray(start, end)))) this.backed = true
  }

  end(trailers?: Head): void {
    if (!this.open) return
    if (this.#left > 0) return this.abort('protocol-error')
    if (trailers !== undefined && this.#gate !== undefined) this.#trailers = fieldObject(trailers, this.#gate)
    // Without its trailers the request would look complete.
    if (objectBytes(this.#trailers) > MAX_SENT_HEAD_BYTES) return this.abort('protocol-error')
    this.#letGo()
    this.#stream?.end()
    this.#owner.messageWritten()
  }

  abort(why: Abort): void {
    if (!this.open) return
    this.#letGo()
    this.#owner.messageCut(why)
  }

  /** Accepts no more bytes and detaches the source. */
  close(): void {
    this.#letGo()
    this.forgetWhole()
    this.#detach()
  }

  // The listeners are the same for all streams.

  static readonly #onDrain = function (this: WrittenStream): void {
    const writer = this[WRITER]
    if (writer) writer.#flow()
  }

  static readonly #onWantTrailers = function (this: WrittenStream): void {
    const writer = this[WRITER]
    if (writer && !this.closed) this.sendTrailers(writer.#trailers)
  }

  #detach(): void {
    if (this.#stream !== null) this.#stream[WRITER] = null
    this.#stream = null
  }

  #letGo(): void {
    this.open = false
    this.source = null
  }

  #flow(): void {
    this.backed = false
    this.source?.resume()
  }

  /**
   * Keeps bytes for a replay; all of them while there is no stream, because the source is paused then.
   * @returns the copy, which does not change any more; undefined if there is none
   */
  #keep(buffer: Buffer, start: number, end: number): Buffer | undefined {
    const kept = this.#kept
    if (kept === undefined) return undefined
    if (this.#stream === null) kept.appendAnyway(buffer, start, end)
    else if (!kept.appendWithin(buffer, start, end)) {
      this.forgetWhole()
      return undefined
    }
    return kept.bytes.subarray(kept.length - (end - start))
  }
}
