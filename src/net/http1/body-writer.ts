import {
  type Abort,
  BODY_CHUNKED,
  BODY_LENGTH,
  BODY_NONE,
  type BodyKind,
  type BodySink,
  type BodySource,
} from '../stream.ts'
import { latin1 } from '../transport/latin1.ts'
import { COALESCE_BYTES, type Transport } from '../transport/transport.ts'

/** The connection of a writer. */
export interface WriterOwner {
  /** The whole message has been handed to the transport. */
  messageWritten(): void
  /** The source aborted: the message must not look complete. */
  messageCut(why: Abort): void
}

const LAST_CHUNK = '0\r\n\r\n'

/** Sends one message after another: the head, then the body in its framing. */
export class BodyWriter implements BodySink {
  source: BodySource | null = null
  framed = false
  /** Body bytes written for this message, including chunk framing that was forwarded. */
  sentBytes = 0
  /** A message has begun and not ended. */
  open = false
  readonly #owner: WriterOwner
  #transport: Transport | null = null
  #kind: BodyKind = BODY_NONE
  #left = 0
  readonly #keepsWhole: boolean
  /** The message so far; '' if it is too large to keep. */
  #text = ''

  /** @param keepsWhole whether `whole` is used; keeping strings beyond the young generation of the heap costs time */
  constructor(owner: WriterOwner, { keepsWhole }: { readonly keepsWhole: boolean }) {
    this.#owner = owner
    this.#keepsWhole = keepsWhole
  }

  /** Begins a message. @param head its text @param kind framing of the body */
  start(transport: Transport, head: string, kind: BodyKind, length: number): void {
    this.source = null
    this.framed = false
    this.sentBytes = 0
    this.open = true
    this.#transport = transport
    this.#kind = kind
    this.#left = kind === BODY_LENGTH ? length : 0
    if (this.#keepsWhole) this.#text = head
    transport.writeText(head)
  }

  get backed(): boolean {
    return this.#transport?.backed ?? false
  }

  get takesFramed(): boolean {
    return this.#kind === BODY_CHUNKED
  }

  /** The complete message as one text, for a replay; '' if it is incomplete or large. */
  get whole(): string {
    return this.open ? '' : this.#text
  }

  /** Drops the text, because no replay is needed. */
  forgetWhole(): void {
    this.#text = ''
  }

  bytes(buffer: Buffer, start: number, end: number): void {
    if (!this.open || start === end || this.#kind === BODY_NONE) return
    if (this.#kind === BODY_LENGTH) {
      this.#left -= end - start
      // The peer would parse bytes beyond the announced length as the next message.
      if (this.#left < 0) return this.abort('protocol-error')
    }
    this.sentBytes += end - start
    const chunked = this.#kind === BODY_CHUNKED && !this.framed
    if (chunked) this.#writeText(`${(end - start).toString(16)}\r\n`)
    if (this.#keeps(end - start)) this.#writeText(latin1(buffer, start, end))
    else {
      this.#text = ''
      this.#transport!.writeBytes(buffer, start, end)
    }
    if (chunked) this.#writeText('\r\n')
  }

  end(): void {
    if (!this.open) return
    if (this.#left > 0) return this.abort('protocol-error')
    if (this.#kind === BODY_CHUNKED && !this.framed) this.#writeText(LAST_CHUNK)
    this.close()
    this.#owner.messageWritten()
  }

  abort(why: Abort): void {
    if (!this.open) return
    this.close()
    this.#owner.messageCut(why)
  }

  /** Accepts no more bytes and detaches the source. */
  close(): void {
    this.open = false
    this.source = null
  }

  /** Continues the message on `transport`; the caller sends what was written so far. */
  moveTo(transport: Transport): void {
    this.#transport = transport
    if (!transport.backed) this.drained()
  }

  /** The transport has sent all queued bytes. */
  drained(): void {
    this.source?.resume()
  }

  #writeText(text: string): void {
    this.#text = this.#keeps(text.length) ? this.#text + text : ''
    this.#transport!.writeText(text)
  }

  /** Whether the message is kept with that much more of it. */
  #keeps(length: number): boolean {
    return this.#text !== '' && this.#text.length + length <= COALESCE_BYTES
  }
}
