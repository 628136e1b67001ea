/** Searches bytes for a constant text: by Horspool's algorithm, which looks only at every sixth byte for a text of seven, if most do not occur in it. */
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
