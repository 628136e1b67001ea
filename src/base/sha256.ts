import { bytesOf } from './byte-text.ts'

/** The first 32 bits of the fractional parts of the cube roots of the first 64 primes (FIPS 180-4, 4.2.2). */
const K = Int32Array.from(firstPrimes(64), (prime) => fractionBits(Math.cbrt(prime)))
/** The same of the square roots of the first 8 primes (FIPS 180-4, 5.3.3). */
const INITIAL = Int32Array.from(firstPrimes(8), (prime) => fractionBits(Math.sqrt(prime)))

const BLOCK = 64
const schedule = new Int32Array(64)
const state = new Int32Array(8)
/** The padded message; reused while it is large enough. */
let message = new Uint8Array(4 * BLOCK)

/** A longer message gets temporary memory. */
const MAX_KEPT = 65_536

/** SHA-256 (FIPS 180-4), synchronous and without Node APIs. @returns 32 bytes */
export function sha256(bytes: Uint8Array): Uint8Array {
  const kept = message
  makeRoom(bytes.length)
  message.set(bytes)
  digest(bytes.length)
  if (message.length > MAX_KEPT) message = kept
  const result = new Uint8Array(32)
  for (let i = 0; i < 32; i++) result[i] = state[i >> 2]! >>> (24 - 8 * (i & 3))
  return result
}

/** The digest of latin-1 text of bytes, as lower-case hexadecimal digits. */
export function sha256OfByteText(byteText: string): string {
  let hex = ''
  for (const byte of sha256(bytesOf(byteText))) hex += byte.toString(16).padStart(2, '0')
  return hex
}

/**
 * The digest of latin-1 text of bytes, as an opaque string of 16 UTF-16 units: the cheapest form that a `Map` can look up.
 * Equal exactly when the digests are.
 */
export function digestKey(byteText: string): string {
  makeRoom(byteText.length)
  for (let i = 0; i < byteText.length; i++) message[i] = byteText.charCodeAt(i)
  digest(byteText.length)
  return unitsOf(0) + unitsOf(4)
}

/** Four words of the state as text. */
function unitsOf(from: number): string {
  const a = state[from]!
  const b = state[from + 1]!
  const c = state[from + 2]!
  const d = state[from + 3]!
  return String.fromCharCode(a >>> 16, a & 0xffff, b >>> 16, b & 0xffff, c >>> 16, c & 0xffff, d >>> 16, d & 0xffff)
}

/** Room for a message of `length` bytes and its padding: one byte 0x80, zeros, eight bytes of length. */
function makeRoom(length: number): void {
  if (length + 9 + BLOCK > message.length) message = new Uint8Array(2 * (length + 9 + BLOCK))
}

/** Digests the first `length` bytes of `message` into `state`. */
function digest(length: number): void {
  const padded = Math.ceil((length + 9) / BLOCK) * BLOCK
  message[length] = 0x80
  message.fill(0, length + 1, padded)
  let bits = length * 8
  for (let at = padded - 1; bits > 0; at--) {
    message[at] = bits & 255
    bits = Math.floor(bits / 256)
  }
  state.set(INITIAL)
  for (let at = 0; at < padded; at += BLOCK) compress(message, at)
}

/** One round of FIPS 180-4, 6.2.2 over the block at `at`. */
function compress(bytes: Uint8Array, at: number): void {
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
