import { parseJson } from '#base/parse-json.ts'
import { decodeLatin1, decodeText, isUtf8 } from './native.ts'
import type { JsonFault } from './scan-members.ts'
import { skipSpace, skipString, skipValue } from './skip-value.ts'

/** Deeper nesting is refused, as by `skipValue`. */
const MAX_DEPTH = 256

/** Objects, lists and members. More would occupy a worker for longer than other requests may wait. */
export const MAX_PARTS = 150_000

/** Up to this many keys are compared with each other; more go into a set. */
const FEW_KEYS = 8

/** Strings up to this length are examined byte by byte; the native parser is faster for longer ones. */
const NEAR = 384

/** Bytes of ASCII below 0x80 without a backslash are their own text. */
const PLAIN_KEY = /^[\x20-\x5b\x5d-\x7f]*$/

export type JsonKind = 'object' | 'array' | 'string' | 'number' | 'boolean' | 'null'

/**
 * Parses JSON into positions, without building values, so that parts of it can be copied as they are: exact numbers, no re-encoding. Unlike
 * `scanMembers` it validates everything (RFC 8259): UTF-8, escapes, control characters, and that no object at any depth has a key twice. It refuses more than `MAX_PARTS`.
 */
export function parseDocument(bytes: Uint8Array): JsonValue | JsonFault {
  if (!isUtf8(bytes)) return { fault: 'not-json', at: 0 }
  const tape = new Tape(bytes)
  try {
    const end = tape.read(skipSpace(bytes, 0), 0)
    const rest = skipSpace(bytes, end)
    if (rest < bytes.length) return { fault: 'not-json', at: rest }
  } catch (error) {
    if (error instanceof Unreadable) return error.fault
    throw error
  }
  return new JsonValue(tape, 0)
}

class Unreadable extends Error {
  readonly fault: JsonFault

  constructor(fault: JsonFault['fault'], at: number) {
    super(fault)
    this.fault = { fault, at }
  }
}

/** The positions of all values of a text: for each value its start, its end, and the index after its last descendant. */
class Tape {
  readonly bytes: Uint8Array
  readonly at: number[] = []
  #parts = 0
  /** The text, a unit for each byte; made when an object has many keys. */
  #latin1: string | undefined
  /** Some key has an escape: keys must be decoded to be compared. */
  hasEscapedKeys = false

  constructor(bytes: Uint8Array) {
    this.bytes = bytes
  }

  /** Reads the value at `start`. @returns the position after it */
  read(start: number, depth: number): number {
    const { bytes, at } = this
    const index = at.length
    at.push(start, 0, 0)
    const end = this.#readAny(bytes[start], start, depth)
    at[index + 1] = end
    at[index + 2] = at.length
    return end
  }

  #readAny(first: number | undefined, start: number, depth: number): number {
    if (first === 0x22) return endOfString(this.bytes, start + 1)
    if (first !== 0x7b && first !== 0x5b) {
      const end = skipValue(this.bytes, start)
      if (end < 0) throw new Unreadable('not-json', ~end)
      return end
    }
    if (depth === MAX_DEPTH) throw new Unreadable('not-json', start)
    this.#count(start)
    return first === 0x7b ? this.#readObject(start, depth + 1) : this.#readArray(start, depth + 1)
  }

  #readArray(start: number, depth: number): number {
    const { bytes } = this
    let next = skipSpace(bytes, start + 1)
    if (bytes[next] === 0x5d) return next + 1
    for (;;) {
      next = skipSpace(bytes, this.read(next, depth))
      if (bytes[next] === 0x5d) return next + 1
      if (bytes[next] !== 0x2c) throw new Unreadable('not-json', next)
      next = skipSpace(bytes, next + 1)
    }
  }

  #readObject(start: number, depth: number): number {
    const { bytes, at } = this
    const first = at.length
    let next = skipSpace(bytes, start + 1)
    if (bytes[next] === 0x7d) return next + 1
    for (;;) {
      if (bytes[next] !== 0x22) throw new Unreadable('not-json', next)
      const keyEnd = endOfString(bytes, next + 1)
      this.#count(next)
      at.push(next, keyEnd, at.length + 3)
      next = skipSpace(bytes, keyEnd)
      if (bytes[next] !== 0x3a) throw new Unreadable('not-json', next)
      next = skipSpace(bytes, this.read(skipSpace(bytes, next + 1), depth))
      if (bytes[next] === 0x7d) break
      if (bytes[next] !== 0x2c) throw new Unreadable('not-json', next)
      next = skipSpace(bytes, next + 1)
    }
    this.#refuseDuplicates(first)
    return next + 1
  }

  #count(at: number): void {
    if (++this.#parts > MAX_PARTS) throw new Unreadable('too-many-parts', at)
  }

  /** @param first index of the first key of an object, whose last descendant is the last one of the tape */
  #refuseDuplicates(first: number): void {
    const { at } = this
    let count = 0
    let hasEscapes = false
    for (let key = first; key < at.length; key = at[key + 5]!) {
      count++
      if (this.#hasBackslash(key)) hasEscapes = true
    }
    if (hasEscapes) this.hasEscapedKeys = true
    if (hasEscapes || count > FEW_KEYS) return this.#refuseInSet(first)
    for (let one = at[first + 5]!; one < at.length; one = at[one + 5]!) {
      for (let other = first; other < one; other = at[other + 5]!) {
        if (this.#isSame(one, other)) throw new Unreadable('duplicate-key', at[one]!)
      }
    }
  }

  #refuseInSet(first: number): void {
    const { at } = this
    const seen = new Set<string>()
    for (let key = first; key < at.length; key = at[key + 5]!) {
      const text = this.#keyAt(key)
      if (seen.has(text)) throw new Unreadable('duplicate-key', at[key]!)
      seen.add(text)
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
    for (let i = at[key]!; i < at[key + 1]!; i++) if (bytes[i] === 0x5c) return true
    return false
  }

  /** The decoded text of a string. */
  textAt(index: number): string {
    const { at, bytes } = this
    const [start, end] = [at[index]! + 1, at[index + 1]! - 1]
    const text = decodeText(bytes, start, end)
    return text.includes('\\') ? (parseJson(`"${text}"`) as string) : text
  }
}

/** The position after the string whose content starts at `from`, which must be valid. The end of most is near. */
function endOfString(bytes: Uint8Array, from: number): number {
  const near = Math.min(from + NEAR, bytes.length)
  let at = from
  for (; at < near; at++) {
    const byte = bytes[at]!
    if (byte === 0x22) return at + 1
    if (byte < 0x20) throw new Unreadable('not-json', at)
    if (byte === 0x5c) at = endOfEscape(bytes, at) - 1
  }
  const end = skipString(bytes, at)
  if (end < 0) throw new Unreadable('not-json', bytes.length)
  checkLong(bytes, at, end - 1)
  return end
}

function checkBytes(bytes: Uint8Array, start: number, end: number): void {
  for (let at = start; at < end; at++) {
    const byte = bytes[at]!
    if (byte < 0x20) throw new Unreadable('not-json', at)
    if (byte === 0x5c) at = endOfEscape(bytes, at) - 1
  }
}

/** Only the position of a fault needs a look at each byte. */
function checkLong(bytes: Uint8Array, start: number, end: number): void {
  try {
    parseJson(`"${decodeLatin1(bytes, start, end)}"`)
  } catch {
    checkBytes(bytes, start, end)
  }
}

/** The position after the escape at `at` (RFC 8259, 7). */
function endOfEscape(bytes: Uint8Array, at: number): number {
  const letter = bytes[at + 1]!
  if (letter !== 0x75) {
    if (!'"\\/bfnrt'.includes(String.fromCharCode(letter))) throw new Unreadable('not-json', at)
    return at + 2
  }
  for (let i = at + 2; i < at + 6; i++) if (!isHex(bytes[i]!)) throw new Unreadable('not-json', at)
  return at + 6
}

function isHex(byte: number): boolean {
  return (byte >= 0x30 && byte <= 0x39) || ((byte | 0x20) >= 0x61 && (byte | 0x20) <= 0x66)
}

/** By the first byte. */
const KINDS: readonly JsonKind[] = kindsByByte()

function kindsByByte(): JsonKind[] {
  const kinds = new Array<JsonKind>(128).fill('number')
  kinds[0x7b] = 'object'
  kinds[0x5b] = 'array'
  kinds[0x22] = 'string'
  kinds[0x74] = kinds[0x66] = 'boolean'
  kinds[0x6e] = 'null'
  return kinds
}

/** A value of a parsed text. It shares the bytes of the text. */
export class JsonValue {
  readonly #tape: Tape
  readonly #index: number

  constructor(tape: Tape, index: number) {
    this.#tape = tape
    this.#index = index
  }

  get kind(): JsonKind {
    return KINDS[this.#tape.bytes[this.#tape.at[this.#index]!]!]!
  }

  /** The text of the value as received; of a string, with its quotes and escapes. */
  get json(): Uint8Array {
    const { bytes, at } = this.#tape
    return bytes.subarray(at[this.#index]!, at[this.#index + 1]!)
  }

  /** The decoded text of a string; empty for other values. */
  get text(): string {
    return this.kind === 'string' ? this.#tape.textAt(this.#index) : ''
  }

  /** The nearest double of a number. */
  get number(): number {
    const { bytes, at } = this.#tape
    return Number(decodeText(bytes, at[this.#index]!, at[this.#index + 1]!))
  }

  get isTrue(): boolean {
    return this.#tape.bytes[this.#tape.at[this.#index]!] === 0x74
  }

  /** The elements of an array; none for other values. */
  get elements(): readonly JsonValue[] {
    const { at } = this.#tape
    const elements: JsonValue[] = []
    if (this.kind !== 'array') return elements
    for (let next = this.#index + 3; next < at[this.#index + 2]!; next = at[next + 2]!) {
      elements.push(new JsonValue(this.#tape, next))
    }
    return elements
  }

  /** The keys and values of an object, in order; none for other values. */
  get members(): readonly (readonly [key: string, value: JsonValue])[] {
    const { at } = this.#tape
    const members: (readonly [string, JsonValue])[] = []
    if (this.kind !== 'object') return members
    for (let key = this.#index + 3; key < at[this.#index + 2]!; key = at[key + 5]!) {
      members.push([this.#tape.textAt(key), new JsonValue(this.#tape, key + 3)])
    }
    return members
  }

  /** The elements or the values of an object, one by one; none for other values. */
  children(): JsonChildren {
    return new JsonChildren(this.#tape, this.#index)
  }

  /** Where the keys of an object are, quotes included, in the order of `members`; none for other values. */
  get keys(): readonly { readonly start: number; readonly end: number }[] {
    const { at } = this.#tape
    const keys: { start: number; end: number }[] = []
    if (this.kind !== 'object') return keys
    for (let key = this.#index + 3; key < at[this.#index + 2]!; key = at[key + 5]!) {
      keys.push({ start: at[key]!, end: at[key + 1]! })
    }
    return keys
  }

  /** A member of an object; undefined if it is absent or null, or if this is no object. */
  get(name: string): JsonValue | undefined {
    const { at, bytes } = this.#tape
    if (this.kind !== 'object') return undefined
    for (let key = this.#index + 3; key < at[this.#index + 2]!; key = at[key + 5]!) {
      if (this.#reads(key, name)) return bytes[at[key + 3]!] === 0x6e ? undefined : new JsonValue(this.#tape, key + 3)
    }
    return undefined
  }

  #reads(key: number, name: string): boolean {
    const { at, bytes } = this.#tape
    const start = at[key]! + 1
    const length = at[key + 1]! - 1 - start
    if (this.#tape.hasEscapedKeys && length > name.length) return this.#tape.textAt(key) === name
    if (length !== name.length) return false
    for (let i = 0; i < length; i++) if (bytes[start + i] !== name.charCodeAt(i)) return false
    return true
  }

  /** The members of an object whose values are neither null nor at these places. */
  membersExcept(places: readonly number[]): readonly JsonValue[] {
    const { at, bytes } = this.#tape
    const members: JsonValue[] = []
    if (this.kind !== 'object') return members
    for (let key = this.#index + 3; key < at[this.#index + 2]!; key = at[key + 5]!) {
      const place = at[key + 3]!
      if (bytes[place] !== 0x6e && !places.includes(place)) members.push(new JsonValue(this.#tape, key + 3))
    }
    return members
  }

  /** The position of its first byte: no other value of the text begins there. */
  get place(): number {
    return this.#tape.at[this.#index]!
  }

  /** The position after its last byte. */
  get end(): number {
    return this.#tape.at[this.#index + 1]!
  }

  /** Where the value is: `messages[3].content[0].text`; empty for the whole text. */
  get path(): string {
    const { at } = this.#tape
    let path = ''
    let index = 0
    while (index < this.#index) {
      const isObject = this.#tape.bytes[at[index]!] === 0x7b
      let position = 0
      let next = index + 3
      // The child that contains this value.
      while (at[isObject ? next + 5 : next + 2]! <= this.#index) {
        next = at[isObject ? next + 5 : next + 2]!
        position++
      }
      if (isObject) path += path === '' ? this.#tape.textAt(next) : `.${this.#tape.textAt(next)}`
      else path += `[${position}]`
      index = isObject ? next + 3 : next
    }
    return path
  }
}

/** Goes through the elements of an array, or through the members of an object, without a list of them. */
export class JsonChildren {
  readonly #tape: Tape
  readonly isObject: boolean
  readonly #end: number
  #next: number
  #current = 0
  /** Position of the child among its siblings; -1 before the first. */
  index = -1

  constructor(tape: Tape, index: number) {
    const first = tape.bytes[tape.at[index]!]
    this.#tape = tape
    this.isObject = first === 0x7b
    this.#next = index + 3
    this.#end = this.isObject || first === 0x5b ? tape.at[index + 2]! : this.#next
  }

  /** Undefined: there are no more. */
  next(): JsonValue | undefined {
    if (this.#next >= this.#end) return undefined
    // The key of a member stands before its value.
    const value = this.isObject ? this.#next + 3 : this.#next
    this.#current = this.#next
    this.#next = this.#tape.at[value + 2]!
    this.index++
    return new JsonValue(this.#tape, value)
  }

  /** The decoded key of the member that `next` returned. */
  get name(): string {
    return this.#tape.textAt(this.#current)
  }

  /** Where this key is, quotes included. */
  get key(): { readonly start: number; readonly end: number } {
    const { at } = this.#tape
    return { start: at[this.#current]!, end: at[this.#current + 1]! }
  }
}
