import type { BodyClaim } from '#net/body/body-memory.ts'
import { HeldBytes } from '#net/body/held-bytes.ts'

/** So much is read until somebody looks whether there is room for more. */
const SLICE_BYTES = 4096
/** What a source may deliver after it was told to wait. */
const MAX_WAITING_BYTES = 1024 * 1024

export interface PacedInputOptions {
  readonly claim: BodyClaim
  /** Nothing more may be read now. */
  readonly isFull: () => boolean
  readonly read: (buffer: Buffer, start: number, end: number) => void
}

/**
 * Input that is read as long as there is room for what comes of it. A piece from the wire may be longer than that; the rest of it waits unread.
 */
export class PacedInput {
  readonly #options: PacedInputOptions
  readonly #waiting: HeldBytes
  /** Of `#waiting`, in bytes. */
  #read = 0
  #ended: (() => void) | undefined

  constructor(options: PacedInputOptions) {
    this.#options = options
    this.#waiting = new HeldBytes(options.claim, MAX_WAITING_BYTES)
  }

  get isWaiting(): boolean {
    return this.#waiting.length > 0
  }

  /** @returns false if there is no memory for the rest */
  push(buffer: Buffer, start: number, end: number): boolean {
    const from = this.isWaiting ? start : this.#readSlices(buffer, start, end)
    return from === end || this.#waiting.appendWithin(buffer, from, end)
  }

  /** @param ended is called when everything has been read */
  end(ended: () => void): void {
    if (this.isWaiting) this.#ended = ended
    else ended()
  }

  /** There may be room again. */
  proceed(): void {
    if (!this.isWaiting) return
    const { bytes } = this.#waiting
    this.#read = this.#readSlices(bytes, this.#read, bytes.length)
    if (this.#read < bytes.length) return
    this.drop()
    this.#ended?.()
  }

  drop(): void {
    this.#waiting.drop()
    this.#read = 0
  }

  /** @returns how far it came */
  #readSlices(buffer: Buffer, start: number, end: number): number {
    let at = start
    while (at < end && !this.#options.isFull()) {
      const next = Math.min(at + SLICE_BYTES, end)
      this.#options.read(buffer, at, next)
      at = next
    }
    return at
  }
}
