import { bytesOf } from './byte-text.ts'

/** The first 32 bits of the fractional parts of the cube roots of the first 64 primes (FIPS 180-4, 4.2.2). */
const K = Int32Array.from(firstPrimes(64), (prime) => fractionBits(Math.cbrt(prime)))
/** The same of the square roots of the first 8 primes (FIPS 180-4, 5.3.3). */
const INITIAL = Int32Array.from(firstPrimes(8), (prime) => fractionBits(Math.sqrt(prime)))

const BLOCK = 64
const schedule = new Int32Array(64)

/** SHA-256 (FIPS 180-4), synchronous and without Node APIs, for short inputs such as credentials. @returns 32 bytes */
export function sha256(bytes: Uint8Array): Uint8Array {
  const state = INITIAL.slice()
  const whole = bytes.length - (bytes.length % BLOCK)
  for (let at = 0; at < whole; at += BLOCK) compress(state, bytes, at)

  const rest = bytes.length - whole
  const tail = new Uint8Array(rest < BLOCK - 8 ? BLOCK : 2 * BLOCK)
  tail.set(bytes.subarray(whole))
  tail[rest] = 0x80
  const bits = new DataView(tail.buffer, tail.length - 8)
  bits.setUint32(0, Math.floor(bytes.length / 2 ** 29))
  bits.setUint32(4, bytes.length * 8)
  for (let at = 0; at < tail.length; at += BLOCK) compress(state, tail, at)

  const digest = new Uint8Array(32)
  const view = new DataView(digest.buffer)
  for (let i = 0; i < 8; i++) view.setInt32(4 * i, state[i]!)
  return digest
}

/** The digest of latin-1 text of bytes, as lower-case hexadecimal digits. */
export function sha256OfByteText(byteText: string): string {
  let hex = ''
  for (const byte of sha256(bytesOf(byteText))) hex += HEX[byte]
  return hex
}

const HEX = Array.from({ length: 256 }, (_, byte) => byte.toString(16).padStart(2, '0'))

/** One round of FIPS 180-4, 6.2.2 over the block at `at`. */
function compress(state: Int32Array, bytes: Uint8Array, at: number): void {
  const w = schedule
  for (let t = 0; t < 16; t++) {
    const i = at + 4 * t
    w[t] = (bytes[i]! << 24) | (bytes[i + 1]! << 16) | (bytes[i + 2]! << 8) | bytes[i + 3]!
  }
  for (let t = 16; t < 64; t++) {
    const early = w[t - 15]!
    const late = w[t - 2]!
    const s0 = rotate(early, 7) ^ rotate(early, 18) ^ (early >>> 3)
    const s1 = rotate(late, 17) ^ rotate(late, 19) ^ (late >>> 10)
    w[t] = (w[t - 16]! + s0 + w[t - 7]! + s1) | 0
  }
  let a = state[0]!
  let b = state[1]!
  let c = state[2]!
  let d = state[3]!
  let e = state[4]!
  let f = state[5]!
  let g = state[6]!
  let h = state[7]!
  for (let t = 0; t < 64; t++) {
    const sum1 = rotate(e, 6) ^ rotate(e, 11) ^ rotate(e, 25)
    const choice = (e & f) ^ (~e & g)
    const t1 = (h + sum1 + choice + K[t]! + w[t]!) | 0
    const sum0 = rotate(a, 2) ^ rotate(a, 13) ^ rotate(a, 22)
    const majority = (a & b) ^ (a & c) ^ (b & c)
    h = g
    g = f
    f = e
    e = (d + t1) | 0
    d = c
    c = b
    b = a
    a = (t1 + sum0 + majority) | 0
  }
  state[0]! += a
  state[1]! += b
  state[2]! += c
  state[3]! += d
  state[4]! += e
  state[5]! += f
  state[6]! += g
  state[7]! += h
}

function rotate(word: number, by: number): number {
  return (word >>> by) | (word << (32 - by))
}

function firstPrimes(count: number): number[] {
  const primes: number[] = []
  for (let n = 2; primes.length < count; n++) if (primes.every((prime) => n % prime !== 0)) primes.push(n)
  return primes
}

function fractionBits(root: number): number {
  return Math.floor((root - Math.floor(root)) * 2 ** 32) | 0
}
