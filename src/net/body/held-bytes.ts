import type { BodyClaim } from './body-memory.ts'

/**
 * Bytes of a body that are kept in memory, if there is room. They form one buffer that grows by doubling, so a body that arrives byte by
 * byte does not cost an object per byte.
 */
export class HeldBytes {
  length = 0
  readonly #claim: BodyClaim
  readonly #maxBytes: number
  readonly #expectedBytes: number
  #buffer: Buffer | undefined

  /** @param announced the expected number of bytes; -1: unknown */
  constructor(claim: BodyClaim, maxBytes: number, announced = -1) {
    this.#claim = claim
    this.#maxBytes = maxBytes
    this.#expectedBytes = announced < 0 ? maxBytes : Math.min(announced, maxBytes)
  }

  /** The kept bytes; valid until more are added. */
  get bytes(): Buffer {
    return this.#buffer?.subarray(0, this.length) ?? Buffer.alloc(0)
  }

  /** Like `append`, but also fails if the total would exceed `maxBytes`. */
  appendWithin(buffer: Buffer, start: number, end: number): boolean {
    return this.length + end - start <= this.#maxBytes && this.append(buffer, start, end)
  }

  /** Adds `buffer[start, end)`. @returns false if there is no room; then nothing is added */
  append(buffer: Buffer, start: number, end: number): boolean {
    const more = this.missing(end - start)
    if (more > 0 && !this.#claim.take(more)) return false
    this.#add(buffer, start, end, more)
    return true
  }

  /** Adds bytes that cannot be read again, even if there is no room. */
  appendAnyway(buffer: Buffer, start: number, end: number): void {
    const more = this.missing(end - start)
    this.#claim.takeAnyway(more)
    this.#add(buffer, start, end, more)
  }

  /** Drops all bytes and releases their memory. */
  drop(): void {
    this.#claim.give(this.#capacity)
    this.#buffer = undefined
    this.length = 0
  }

  /** The number of bytes to allocate before `added` bytes fit. */
  missing(added: number): number {
    const capacity = this.#capacity
    const length = this.length + added
    if (length <= capacity) return 0
    return Math.max(length, Math.min(2 * capacity, this.#expectedBytes)) - capacity
  }

  #add(buffer: Buffer, start: number, end: number, more: number): void {
    let held = this.#buffer
    if (held === undefined || more > 0) {
      const larger = Buffer.allocUnsafe(this.#capacity + more)
      held?.copy(larger, 0, 0, this.length)
      held = larger
      this.#buffer = held
    }
    buffer.copy(held, this.length, start, end)
    this.length += end - start
  }

  get #capacity(): number {
    return this.#buffer?.length ?? 0
  }
}
