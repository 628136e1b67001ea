import type { Head } from '#net/http/head.ts'
import type { Abort, BodySink, BodySource } from '#net/stream.ts'

/** What happens to the bytes of a body. */
export type InputUse =
  /** They are kept. */
  | 'hold'
  /** They go to the processor. */
  | 'send'
  /** They are forwarded without the processor. */
  | 'pass'
  | 'drop'

/** The owner of a body that is read. */
export interface InputOwner {
  /** Whether more bytes would wait for their receiver: the processor (`send`), or that of the message (`pass`). */
  receiverBacked(use: 'send' | 'pass'): boolean
  /** @param bytes a copy */
  received(use: 'send' | 'pass', bytes: Uint8Array): void
  /** Counts held bytes as memory; negative: they are released. */
  hold(bytes: number): void
  /** More bytes are held than wanted; the source is paused. */
  overflowed(): void
  ended(trailers: Head | undefined): void
  broken(why: Abort): void
}

/** Reads a body of a message. */
export class BodyInput implements BodySink {
  readonly takesFramed = false
  source: BodySource | null = null
  readonly #owner: InputOwner
  readonly #maxHeldBytes: number
  #use: InputUse
  #held: Uint8Array[] = []
  #heldBytes = 0
  #overflowed = false

  constructor(owner: InputOwner, use: InputUse, maxHeldBytes: number) {
    this.#owner = owner
    this.#use = use
    this.#maxHeldBytes = maxHeldBytes
  }

  get backed(): boolean {
    const use = this.#use
    if (use === 'hold') return this.#heldBytes > this.#maxHeldBytes
    return use !== 'drop' && this.#owner.receiverBacked(use)
  }

  get use(): InputUse {
    return this.#use
  }

  /** The first held bytes, which are still held. */
  beginning(maxBytes: number): Uint8Array {
    return this.#joined.subarray(0, maxBytes)
  }

  /** Takes the held bytes. */
  take(): Uint8Array {
    const all = this.#joined
    this.#owner.hold(-this.#heldBytes)
    this.#held = []
    this.#heldBytes = 0
    return all
  }

  get #joined(): Uint8Array {
    const [only, ...more] = this.#held
    if (only !== undefined && more.length === 0) return only
    const all = new Uint8Array(this.#heldBytes)
    let at = 0
    for (const piece of this.#held) {
      all.set(piece, at)
      at += piece.length
    }
    this.#held = [all]
    return all
  }

  change(use: InputUse): void {
    this.#use = use
    this.resume()
  }

  /** The receiver may have room again. */
  resume(): void {
    if (!this.backed) this.source?.resume()
  }

  bytes(buffer: Buffer, start: number, end: number): void {
    if (start === end || this.#use === 'drop') return
    const bytes = new Uint8Array(end - start)
    bytes.set(buffer.subarray(start, end))
    if (this.#use !== 'hold') return this.#owner.received(this.#use, bytes)
    this.#held.push(bytes)
    this.#heldBytes += bytes.length
    this.#owner.hold(bytes.length)
    if (this.#heldBytes <= this.#maxHeldBytes || this.#overflowed) return
    this.#overflowed = true
    this.#owner.overflowed()
  }

  end(trailers?: Head): void {
    this.#owner.ended(trailers !== undefined && trailers.fieldCount > 0 ? trailers.clone() : undefined)
  }

  abort(why: Abort): void {
    this.#owner.broken(why)
  }
}
