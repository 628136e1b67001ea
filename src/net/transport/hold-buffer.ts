const FIRST_CAPACITY = 1024

/** Bytes that cannot be processed yet. The memory grows by doubling, and large memory is released again. */
export class HoldBuffer {
  length = 0
  #bytes: Buffer | null = null

  /** The held bytes are `[0, length)` of this buffer. */
  get bytes(): Buffer {
    this.#bytes ??= Buffer.allocUnsafeSlow(FIRST_CAPACITY)
    return this.#bytes
  }

  /** Appends `buffer[start, end)` to the held bytes. */
  append(buffer: Buffer, start: number, end: number): void {
    const length = this.length + end - start
    const current = this.bytes
    if (length > current.length) {
      const larger = Buffer.allocUnsafeSlow(Math.max(length, 2 * current.length))
      current.copy(larger, 0, 0, this.length)
      this.#bytes = larger
    }
    buffer.copy(this.#bytes!, this.length, start, end)
    this.length = length
  }

  /** Holds `buffer[start, end)` and nothing else; `buffer` may be the held memory itself. */
  replace(buffer: Buffer, start: number, end: number): void {
    if (start === end) return this.clear()
    if (buffer === this.#bytes) {
      if (start > 0) buffer.copy(buffer, 0, start, end)
      this.length = end - start
      return
    }
    this.length = 0
    this.append(buffer, start, end)
  }

  clear(): void {
    this.length = 0
    this.#bytes = null
  }
}
