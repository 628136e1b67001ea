/**
 * MD5 and SHA-1 in JavaScript (RFC 1321, RFC 3174): CEL also runs in browsers, whose digests are asynchronous. For identifiers and
 * comparisons, not for security. SHA-256 is in `base/sha256.ts`.
 */

/** Pads a message to blocks of 64 bytes, with its length in bits at the end. */
function padded(bytes: Uint8Array, littleEndian: boolean): DataView {
  const blocks = Math.floor((bytes.length + 8) / 64) + 1
  const buffer = new Uint8Array(blocks * 64)
  buffer.set(bytes)
  buffer[bytes.length] = 0x80
  const view = new DataView(buffer.buffer)
  const low = (bytes.length << 3) >>> 0
  const high = Math.floor(bytes.length / 2 ** 29)
  view.setUint32(buffer.length - 8, littleEndian ? low : high, littleEndian)
  view.setUint32(buffer.length - 4, littleEndian ? high : low, littleEndian)
  return view
}

function bytesOf(words: Uint32Array, littleEndian: boolean): Uint8Array {
  const view = new DataView(new ArrayBuffer(words.length * 4))
  words.forEach((word, i) => {
    view.setUint32(i * 4, word, littleEndian)
  })
  return new Uint8Array(view.buffer)
}

function rotateLeft(word: number, by: number): number {
  return (word << by) | (word >>> (32 - by))
}

const MD5_SHIFTS = [
  [7, 12, 17, 22],
  [5, 9, 14, 20],
  [4, 11, 16, 23],
  [6, 10, 15, 21],
] as const
const MD5_SINES = Int32Array.from({ length: 64 }, (_, i) => Math.floor(Math.abs(Math.sin(i + 1)) * 2 ** 32))

export function md5(bytes: Uint8Array): Uint8Array {
  const view = padded(bytes, true)
  const state = Uint32Array.of(0x67452301, 0xefcdab89, 0x98badcfe, 0x10325476)
  for (let block = 0; block < view.byteLength; block += 64) {
    let [a, b, c, d] = state as unknown as [number, number, number, number]
    for (let i = 0; i < 64; i++) {
      const round = i >> 4
      const mixed =
        round === 0 ? (b & c) | (~b & d) : round === 1 ? (d & b) | (~d & c) : round === 2 ? b ^ c ^ d : c ^ (b | ~d)
      const word = round === 0 ? i : round === 1 ? (5 * i + 1) % 16 : round === 2 ? (3 * i + 5) % 16 : (7 * i) % 16
      const sum = (a + mixed + MD5_SINES[i]! + view.getInt32(block + word * 4, true)) | 0
      ;[a, d, c, b] = [d, c, b, (b + rotateLeft(sum, MD5_SHIFTS[round as 0]![i % 4]!)) | 0]
    }
    addTo(state, [a, b, c, d])
  }
  return bytesOf(state, true)
}

function addTo(state: Uint32Array, words: readonly number[]): void {
  words.forEach((word, i) => {
    state[i] = (state[i]! + word) | 0
  })
}

const SHA1_CONSTANTS = [0x5a827999, 0x6ed9eba1, 0x8f1bbcdc, 0xca62c1d6] as const

export function sha1(bytes: Uint8Array): Uint8Array {
  const view = padded(bytes, false)
  const state = Uint32Array.of(0x67452301, 0xefcdab89, 0x98badcfe, 0x10325476, 0xc3d2e1f0)
  const w = new Int32Array(80)
  for (let block = 0; block < view.byteLength; block += 64) {
    for (let i = 0; i < 16; i++) w[i] = view.getInt32(block + i * 4)
    for (let i = 16; i < 80; i++) w[i] = rotateLeft(w[i - 3]! ^ w[i - 8]! ^ w[i - 14]! ^ w[i - 16]!, 1)
    let [a, b, c, d, e] = state as unknown as [number, number, number, number, number]
    for (let i = 0; i < 80; i++) {
      const round = Math.floor(i / 20)
      const mixed = round === 0 ? (b & c) | (~b & d) : round === 2 ? (b & c) | (b & d) | (c & d) : b ^ c ^ d
      const sum = (rotateLeft(a, 5) + mixed + e + SHA1_CONSTANTS[round as 0]! + w[i]!) | 0
      ;[e, d, c, b, a] = [d, c, rotateLeft(b, 30), a, sum]
    }
    addTo(state, [a, b, c, d, e])
  }
  return bytesOf(state, false)
}
