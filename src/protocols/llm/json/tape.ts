import type { Steps } from '#base/in-slices.ts'
import { endOfString } from '#base/json-bytes/end-of-string.ts'
import { skipSpace, skipValue } from '#base/json-bytes/skip-value.ts'
import { decodeLongString, decodeString, PIECE_BYTES } from './json-pieces.ts'
import { decodeLatin1 } from './native.ts'
import { Unreadable } from './unreadable.ts'

/** Deeper nesting is refused, as by `skipValue`. */
const MAX_DEPTH = 256

/** Objects, lists and members: 100,000 parts have 300,000. Everything that is done with a body needs memory for each of them. */
export const MAX_PARTS = 350_000

/** Up to this many keys are compared with each other; more go into a set. */
const FEW_KEYS = 8
const SHORT_KEY_BYTES = 384

/** Bytes of ASCII below 0x80 without a backslash are their own text. */
const PLAIN_KEY = /^[\x20-\x5b\x5d-\x7f]*$/

/** The list in which a tape begins to grow, in numbers. */
const SPARE_LENGTH = 4096
/** Where the next tape grows; undefined while another one does. */
let spare: Int32Array | undefined

/** Short lists share memory: allocating some for each takes longer than filling it. */
const SHARED_LENGTH = 16_384
let shared = new Int32Array(SHARED_LENGTH)
let sharedLength = 0

/** Bytes between two yields: a fraction of a millisecond. */
const BYTES_PER_STEP = 131_072
/** The work for a value besides that for its bytes, in bytes. */
const WORK_PER_VALUE = 16
/** Keys between two yields while they are compared in a set. */
const KEYS_PER_STEP = 1024

/** The positions of all values of a text: for each value its start, its end, and the index after its last descendant. */
export class Tape {
  readonly bytes: Uint8Array
  at: Int32Array
  #length = 0
  #parts = 0
  /** The text, a unit for each byte; made when an object has many keys. */
  #latin1: string | undefined
  /** Some key has an escape: keys must be decoded to be compared. */
  hasEscapedKeys = false

  /** Some string of the text has an escape, perhaps a key. */
  readonly #hasBackslashes: boolean

  constructor(bytes: Uint8Array) {
    this.bytes = bytes
    this.#hasBackslashes = bytes.indexOf(0x5c) >= 0
    this.at = spare ?? new Int32Array(SPARE_LENGTH)
    spare = undefined
  }

  /** Everything has been read. A short list is copied: the one in which it has grown is for the next text. */
  settle(): void {
    if (this.at.length > SPARE_LENGTH) return
    spare = this.at
    this.at = shortCopy(spare, this.#length)
  }

  /** Numbers of four bytes in memory that the system provides as it is used: a long list grows in a fraction of a millisecond for each megabyte. */
  #grow(): void {
    const grown = new Int32Array(2 * this.at.length)
    grown.set(this.at)
    if (this.at.length === SPARE_LENGTH) spare = this.at
    this.at = grown
  }

  /** Reads the value at `start`. Yields between values, and in long strings. @returns the position after it */
  *read(start: number): Steps<number> {
    const { bytes } = this
    /** Indexes of the lists and objects around the next value, outermost first. */
    const open: number[] = []
    let next = start
    let pauseAt = next + BYTES_PER_STEP
    for (;;) {
      pauseAt -= WORK_PER_VALUE
      if (next >= pauseAt) {
        yield
        pauseAt = next + BYTES_PER_STEP
      }
      const first = bytes[next]
      let index = this.#length
      let end: number
      this.#push(next, 0, 0)
      if (first === 0x22) {
        end = this.#endOfPiece(next + 1)
        if (end < 0) end = yield* endOfLongString(bytes, ~end)
      } else if (first === 0x7b || first === 0x5b) {
        if (open.length === MAX_DEPTH) throw new Unreadable('not-json', next)
        this.#count(next)
        const inner = skipSpace(bytes, next + 1)
        if (bytes[inner] !== first + 2) {
          open.push(index)
          next = first === 0x7b ? this.#readKey(inner) : inner
          if (next < 0) next = yield* this.#readLongKey(inner, ~next)
          continue
        }
        end = inner + 1
      } else {
        end = skipValue(bytes, next)
        if (end < 0) throw new Unreadable('not-json', ~end)
      }
      // The end of a value may be that of lists and objects around it.
      const { at } = this
      for (;;) {
        at[index + 1] = end
        at[index + 2] = this.#length
        if (open.length === 0) return end
        const around = open[open.length - 1]!
        const isObject = bytes[at[around]!] === 0x7b
        next = skipSpace(bytes, end)
        if (bytes[next] === 0x2c) {
          next = skipSpace(bytes, next + 1)
          if (isObject) {
            const key = next
            next = this.#readKey(key)
            if (next < 0) next = yield* this.#readLongKey(key, ~next)
          }
          break
        }
        if (bytes[next] !== (isObject ? 0x7d : 0x5d)) throw new Unreadable('not-json', next)
        if (isObject && this.#hasManyKeys(around + 3)) yield* this.#refuseInSet(around + 3)
        open.pop()
        index = around
        end = next + 1
      }
    }
  }

  /** @returns the position of the value of the key at `start`; `~position` up to which a long one is valid */
  #readKey(start: number): number {
    const { bytes } = this
    if (bytes[start] !== 0x22) throw new Unreadable('not-json', start)
    const end = this.#endOfPiece(start + 1)
    return end < 0 ? end : this.#endKey(start, end)
  }

  /** The position after a string that ends in its first piece, otherwise where `endOfLongString` goes on. */
  #endOfPiece(start: number): number {
    return endOfString(this.bytes, start, Math.min(start + PIECE_BYTES, this.bytes.length))
  }

  *#readLongKey(start: number, from: number): Steps<number> {
    return this.#endKey(start, yield* endOfLongString(this.bytes, from))
  }

  /** @returns the position of its value */
  #endKey(start: number, end: number): number {
    const { bytes } = this
    this.#count(start)
    this.#push(start, end, this.#length + 3)
    const colon = skipSpace(bytes, end)
    if (bytes[colon] !== 0x3a) throw new Unreadable('not-json', colon)
    return skipSpace(bytes, colon + 1)
  }

  #push(start: number, end: number, after: number): void {
    const index = this.#length
    if (index + 3 > this.at.length) this.#grow()
    const { at } = this
    at[index] = start
    at[index + 1] = end
    at[index + 2] = after
    this.#length = index + 3
  }

  #count(at: number): void {
    if (++this.#parts > MAX_PARTS) throw new Unreadable('too-many-parts', at)
  }

  /**
   * Compares the keys of an object if they are few and short.
   * @param first index of the first key of an object, whose last descendant is the last one of the tape
   */
  #hasManyKeys(first: number): boolean {
    const { at } = this
    const length = this.#length
    let count = 0
    const mayEscape = this.#hasBackslashes
    let hasEscapes = false
    let isLong = false
    for (let key = first; key < length; key = at[key + 5]!) {
      count++
      if (at[key + 1]! - at[key]! > SHORT_KEY_BYTES) isLong = true
      if (mayEscape && this.#hasBackslash(key)) hasEscapes = true
    }
    if (hasEscapes) this.hasEscapedKeys = true
    if (hasEscapes || isLong || count > FEW_KEYS) return true
    for (let one = at[first + 5]!; one < length; one = at[one + 5]!) {
      for (let other = first; other < one; other = at[other + 5]!) {
        if (this.#isSame(one, other)) throw new Unreadable('duplicate-key', at[one]!)
      }
    }
    return false
  }

  *#refuseInSet(first: number): Steps<void> {
    const { at } = this
    const seen = new Set<string>()
    for (let key = first; key < this.#length; key = at[key + 5]!) {
      const text = this.#isLong(key) ? yield* this.textInSteps(key) : this.#keyAt(key)
      if (seen.has(text)) throw new Unreadable('duplicate-key', at[key]!)
      seen.add(text)
      if (seen.size % KEYS_PER_STEP === 0) yield
    }
  }

  /** The same as `textAt`. Taking most keys out of one long string is cheaper than decoding each. */
  #keyAt(key: number): string {
    this.#latin1 ??= decodeLatin1(this.bytes, 0, this.bytes.length)
    const text = this.#latin1.slice(this.at[key]! + 1, this.at[key + 1]! - 1)
    return PLAIN_KEY.test(text) ? text : this.textAt(key)
  }

  /** Whether two keys without escapes are equal. */
  #isSame(one: number, other: number): boolean {
    const { at, bytes } = this
    const [start, otherStart] = [at[one]!, at[other]!]
    const length = at[one + 1]! - start
    if (length !== at[other + 1]! - otherStart) return false
    for (let i = 1; i < length; i++) if (bytes[start + i] !== bytes[otherStart + i]) return false
    return true
  }

  #hasBackslash(key: number): boolean {
    const { at, bytes } = this
    if (this.#isLong(key)) return bytes.subarray(at[key]!, at[key + 1]!).includes(0x5c)
    for (let i = at[key]!; i < at[key + 1]!; i++) if (bytes[i] === 0x5c) return true
    return false
  }

  #isLong(index: number): boolean {
    return this.at[index + 1]! - this.at[index]! > PIECE_BYTES
  }

  /** The decoded text of a string. Yields between pieces of a long one. */
  *textInSteps(index: number): Steps<string> {
    return yield* decodeLongString(this.bytes, this.at[index]! + 1, this.at[index + 1]! - 1)
  }

  /** The same at once. */
  textAt(index: number): string {
    const { at, bytes } = this
    const [start, end] = [at[index]! + 1, at[index + 1]! - 1]
    return decodeString(bytes, start, end)
  }
}

function shortCopy(numbers: Int32Array, length: number): Int32Array {
  if (shared.length - sharedLength < length) {
    shared = new Int32Array(SHARED_LENGTH)
    sharedLength = 0
  }
  const copy = shared.subarray(sharedLength, sharedLength + length)
  for (let i = 0; i < length; i++) copy[i] = numbers[i]!
  sharedLength += length
  return copy
}

/** The same as `endOfString`. Yields between pieces of a long string, and throws `Unreadable` for a fault. */
function* endOfLongString(bytes: Uint8Array, from: number): Steps<number> {
  let at = from
  for (;;) {
    const limit = Math.min(at + PIECE_BYTES, bytes.length)
    const end = endOfString(bytes, at, limit)
    if (end >= 0) return end
    at = ~end
    if (at < limit || at >= bytes.length) throw new Unreadable('not-json', at)
    yield
  }
}
