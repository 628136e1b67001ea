/**
 * Searches bytes for a constant text with Horspool's algorithm: it skips up to the length of the text at each step. For short bodies it is faster than a
 * native search; its worst case is the product of both lengths, so the text must be short.
 */
export class BytePattern {
  readonly #pattern: Uint8Array
  /** By the byte under the last one of the pattern: how far the pattern moves on. */
  readonly #shifts: Uint8Array

  /** @param text 1 to 255 bytes in UTF-8 */
  constructor(text: string) {
    const pattern = new TextEncoder().encode(text)
    const last = pattern.length - 1
    this.#pattern = pattern
    this.#shifts = new Uint8Array(256).fill(pattern.length)
    for (let at = 0; at < last; at++) this.#shifts[pattern[at]!] = last - at
  }

  isIn(bytes: Uint8Array): boolean {
    const pattern = this.#pattern
    const shifts = this.#shifts
    const last = pattern.length - 1
    for (let end = last; end < bytes.length; end += shifts[bytes[end]!]!) {
      let matched = last
      while (matched >= 0 && bytes[end - last + matched] === pattern[matched]) matched--
      if (matched < 0) return true
    }
    return false
  }
}
