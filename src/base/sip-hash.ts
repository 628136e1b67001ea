/** The hash of the last call of `sipHash`: its low and its high half. */
export const sipHashed = { low: 0, high: 0 }

const FINAL_ROUNDS = 3

/**
 * SipHash-1-3 (Aumasson, Bernstein: SipHash, 2012) of the UTF-16 units of a text. Without the secret, one cannot find texts with
 * equal hashes. Leaves the 64 bits in `sipHashed`, because a result of two numbers would be an object for each call.
 * @param secret four words of 32 bits, from `at`
 */
export function sipHash(text: string, secret: Int32Array<ArrayBufferLike>, at = 0): void {
  // v0 to v3 of the paper: their low halves are a to d, their high halves e to h.
  let a = secret[at]! ^ 0x70736575
  let e = secret[at + 1]! ^ 0x736f6d65
  let b = secret[at + 2]! ^ 0x6e646f6d
  let f = secret[at + 3]! ^ 0x646f7261
  let c = secret[at]! ^ 0x6e657261
  let g = secret[at + 1]! ^ 0x6c796765
  let d = secret[at + 2]! ^ 0x79746573
  let h = secret[at + 3]! ^ 0x74656462
  const { length } = text
  const blocks = (length >> 2) + 1
  for (let block = 0; block < blocks + FINAL_ROUNDS; block++) {
    let low = 0
    let high = 0
    if (block < blocks) {
      const from = block * 4
      const left = length - from
      if (left > 0) low = text.charCodeAt(from)
      if (left > 1) low |= text.charCodeAt(from + 1) << 16
      if (left > 2) high = text.charCodeAt(from + 2)
      // The last block ends with the length in bytes, modulo 256.
      high |= left > 3 ? text.charCodeAt(from + 3) << 16 : (length * 2) << 24
      d ^= low
      h ^= high
    } else if (block === blocks) c ^= 0xff
    let sum = (a >>> 0) + (b >>> 0)
    e = (e + f + (sum > 0xffffffff ? 1 : 0)) | 0
    a = sum | 0
    let swap = ((b << 13) | (f >>> 19)) ^ a
    f = ((f << 13) | (b >>> 19)) ^ e
    b = swap
    swap = a
    a = e
    e = swap
    sum = (c >>> 0) + (d >>> 0)
    g = (g + h + (sum > 0xffffffff ? 1 : 0)) | 0
    c = sum | 0
    swap = ((d << 16) | (h >>> 16)) ^ c
    h = ((h << 16) | (d >>> 16)) ^ g
    d = swap
    sum = (a >>> 0) + (d >>> 0)
    e = (e + h + (sum > 0xffffffff ? 1 : 0)) | 0
    a = sum | 0
    swap = ((d << 21) | (h >>> 11)) ^ a
    h = ((h << 21) | (d >>> 11)) ^ e
    d = swap
    sum = (c >>> 0) + (b >>> 0)
    g = (g + f + (sum > 0xffffffff ? 1 : 0)) | 0
    c = sum | 0
    swap = ((b << 17) | (f >>> 15)) ^ c
    f = ((f << 17) | (b >>> 15)) ^ g
    b = swap
    swap = c
    c = g
    g = swap
    a ^= low
    e ^= high
  }
  sipHashed.low = a ^ b ^ c ^ d
  sipHashed.high = e ^ f ^ g ^ h
}
