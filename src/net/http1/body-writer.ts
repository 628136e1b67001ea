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
import { flushLater } from '../transport/turn.ts'

/** The connection behind a writer. */
export interface WriterOwner {
  /** The whole message has been handed to the transport. */
  messageWritten(): void
  /** The giver broke off: the message must not look complete. */
  messageCut(why: Abort): void
}

const LAST_CHUNK = '0\r\n\r\n'

/** Sends one message after another: the head with the first bytes of the body in one write, the body in its framing. */
export class BodyWriter implements BodySink {
  source: BodySource | null = null
  framed = false
  /** Body bytes written for this message, with their chunk framing where that came from the wire. */
  sentBytes = 0
  /** A message has begun and not ended. */
  open = false
  /** Nothing of the message has been written yet. */
  #untouched = true
  readonly #owner: WriterOwner
  #transport: Transport | null = null
  #kind: BodyKind = BODY_NONE
  #left = 0
  #head = ''
  readonly #keepsWhole: boolean
  /** The only write of the message so far; '' when there was none or more than one, or one too large to keep. */
  #onlyWrite = ''

  /** `keepsWhole`: whether `whole` will be asked for. Texts that are kept outlive young memory, which costs. */
  constructor(owner: WriterOwner, { keepsWhole }: { readonly keepsWhole: boolean }) {
    this.#owner = owner
    this.#keepsWhole = keepsWhole
  }

  /** Begins a message: `head` is its text, `kind` and `length` say how the body goes out. */
  start(transport: Transport, head: string, kind: BodyKind, length: number): void {
    this.source = null
    this.framed = false
    this.sentBytes = 0
    this.open = true
    this.#untouched = true
    this.#transport = transport
    this.#kind = kind
    this.#left = kind === BODY_LENGTH ? length : 0
    this.#head = head
    this.#onlyWrite = ''
    // Without a body the end follows at once.
    if (head !== '' && kind !== BODY_NONE) flushLater(this)
  }

  get backed(): boolean {
    return this.#transport?.backed ?? false
  }

  get takesFramed(): boolean {
    return this.#kind === BODY_CHUNKED
  }

  /** The message as one text, when it left whole in one small write: what a replay sends again. */
  get whole(): string {
    return this.open ? '' : this.#onlyWrite
  }

  /** No replay will be needed. */
  forgetWhole(): void {
    this.#onlyWrite = ''
  }

  /** Writes a head that no body bytes have joined. */
  flush(): void {
    if (this.open && this.#head !== '') this.#writeText('')
  }

  bytes(buffer: Buffer, start: number, end: number): void {
    if (!this.open || start === end || this.#kind === BODY_NONE) return
    if (this.#kind === BODY_LENGTH) {
      this.#left -= end - start
      // More than was announced would be read as the next message.
      if (this.#left < 0) return this.abort('protocol-error')
    }
    this.sentBytes += end - start
    const chunked = this.#kind === BODY_CHUNKED && !this.framed
    if (end - start <= COALESCE_BYTES) {
      const text = latin1(buffer, start, end)
      return this.#writeText(chunked ? `${(end - start).toString(16)}\r\n${text}\r\n` : text)
    }
    if (this.#head !== '' || chunked) this.#writeText(chunked ? `${(end - start).toString(16)}\r\n` : '')
    this.#noteWrite('')
    this.#transport!.writeBytes(buffer, start, end)
    if (chunked) this.#writeText('\r\n')
  }

  end(): void {
    if (!this.open) return
    if (this.#left > 0) return this.abort('protocol-error')
    if (this.#kind === BODY_CHUNKED && !this.framed) this.#writeText(LAST_CHUNK)
    else if (this.#head !== '') this.#writeText('')
    this.close()
    this.#owner.messageWritten()
  }

  abort(why: Abort): void {
    if (!this.open) return
    this.close()
    this.#owner.messageCut(why)
  }

  /** Takes nothing more for this message and lets its giver go. */
  close(): void {
    this.open = false
    this.source = null
    this.#head = ''
  }

  /** Goes on with the message on `transport`, which has got or will get what was written so far. */
  moveTo(transport: Transport): void {
    this.#transport = transport
    this.drained()
  }

  /** The transport has sent what was queued. */
  drained(): void {
    this.source?.resume()
  }

  #writeText(text: string): void {
    const whole = this.#head + text
    this.#head = ''
    this.#noteWrite(whole)
    this.#transport!.writeText(whole)
  }

  #noteWrite(text: string): void {
    this.#onlyWrite = this.#untouched && this.#keepsWhole ? text : ''
    this.#untouched = false
  }
}
