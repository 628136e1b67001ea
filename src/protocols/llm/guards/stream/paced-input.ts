import type { BodyClaim } from '#net/body/body-memory.ts'
import { HeldBytes } from '#net/body/held-bytes.ts'

/** Bytes of one slice; after each, the reader checks whether there is room and time for more. */
const SLICE_BYTES = 4096
/** Bytes that a source may still deliver after it was paused. */
const MAX_WAITING_BYTES = 1024 * 1024

/** Input that is read in slices. A piece from the wire is valid only during the call, so that the rest of it must be copied. */
export class PacedInput {
  readonly #kept: HeldBytes
  /** The piece of the current call, or the copied input. */
  #buffer: Buffer | undefined
  #at = 0
  #end = 0
  #isLent = false

  constructor(claim: BodyClaim) {
    this.#kept = new HeldBytes(claim, MAX_WAITING_BYTES)
  }

  get isEmpty(): boolean {
    return this.#at === this.#end
  }

  /** @returns false if there is no memory for it */
  push(buffer: Buffer, start: number, end: number): boolean {
    if (!this.isEmpty) return this.keep() && this.#append(buffer, start, end)
    this.drop()
    this.#buffer = buffer
    this.#at = start
    this.#end = end
    this.#isLent = true
    return true
  }

  /** Reads one slice. */
  readSlice(read: (buffer: Buffer, start: number, end: number) => void): void {
    const [buffer, start] = [this.#buffer!, this.#at]
    this.#at = Math.min(start + SLICE_BYTES, this.#end)
    read(buffer, start, this.#at)
  }

  /** Copies the rest of the piece, which is no longer valid after the call. @returns false if there is no memory for it */
  keep(): boolean {
    if (this.isEmpty) this.drop()
    else if (this.#isLent) {
      const [buffer, start, end] = [this.#buffer!, this.#at, this.#end]
      this.drop()
      return this.#append(buffer, start, end)
    }
    return true
  }

  drop(): void {
    this.#kept.drop()
    this.#buffer = undefined
    this.#at = this.#end = 0
    this.#isLent = false
  }

  #append(buffer: Buffer, start: number, end: number): boolean {
    if (!this.#kept.appendWithin(buffer, start, end)) return false
    this.#buffer = this.#kept.bytes
    this.#end = this.#kept.length
    return true
  }
}
