import { runAtOnce, type Steps } from '#base/in-slices.ts'
import { skipSpace } from '#base/json-bytes/skip-value.ts'
import { decodeBeginning } from './json-pieces.ts'
import { decodeText, findInvalidUtf8 } from './native.ts'
import { isCount } from './read-value.ts'
import { Tape } from './tape.ts'
import { type JsonFault, Unreadable } from './unreadable.ts'

/** No interface has a name of more bytes, whatever its escapes. */
const LONGEST_NAME = 1024

/** In numbers of the tape: 10,000 values. */
const LARGE = 30_000

export type JsonKind = 'object' | 'array' | 'string' | 'number' | 'boolean' | 'null'

/**
 * Parses JSON into positions, without building values, so that parts of it can be copied as they are: exact numbers, no re-encoding. Unlike
 * `scanMembers` it also checks UTF-8 and that no object at any depth has a key twice. It refuses more than `MAX_PARTS`.
 */
export function parseDocument(bytes: Uint8Array): JsonValue | JsonFault {
  return runAtOnce(parseInSteps(bytes))
}

/** The same for bodies that may be long. */
export function* parseInSteps(bytes: Uint8Array): Steps<JsonValue | JsonFault> {
  const invalid = findInvalidUtf8(bytes)
  if (invalid >= 0) return { fault: 'not-json', at: invalid }
  const tape = new Tape(bytes)
  try {
    const end = yield* tape.read(skipSpace(bytes, 0))
    const rest = skipSpace(bytes, end)
    if (rest < bytes.length) return { fault: 'not-json', at: rest }
  } catch (error) {
    if (error instanceof Unreadable) return error.fault
    throw error
  }
  tape.settle()
  return new JsonValue(tape, 0)
}

const ZERO = 0x30
/** Whole numbers of so many digits are exact. */
const EXACT_DIGITS = 15

/** A number that consists of few digits, as most do; -1 for any other. */
function shortCount(bytes: Uint8Array, start: number, end: number): number {
  if (end - start > EXACT_DIGITS) return -1
  let count = 0
  for (let at = start; at < end; at++) {
    const digit = bytes[at]! - ZERO
    if (digit < 0 || digit > 9) return -1
    count = 10 * count + digit
  }
  return count
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

/** Where values are recorded that nothing reads: only the first ones, more are counted. */
interface DropList {
  readonly isListFull: boolean
  drop(value: JsonValue): void
  countOne(): void
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

  /** The beginning of the text of a string, up to a piece that has more than spaces; empty for other values. */
  get beginning(): string {
    return this.kind === 'string' ? decodeBeginning(this.#tape.bytes, this.place + 1, this.end - 1) : ''
  }

  /** The nearest double of a number. */
  get number(): number {
    const { bytes, at } = this.#tape
    const [start, end] = [at[this.#index]!, at[this.#index + 1]!]
    const count = shortCount(bytes, start, end)
    return count < 0 ? Number(decodeText(bytes, start, end)) : count
  }

  /** The number if it can be a count of tokens; undefined for anything else. */
  get count(): number | undefined {
    const count = this.kind === 'number' ? this.number : undefined
    return isCount(count) ? count : undefined
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
    // The longest escape has six characters.
    if (length > 6 * name.length) return false
    if (this.#tape.hasEscapedKeys && length > name.length) return this.#tape.textAt(key) === name
    if (length !== name.length) return false
    for (let i = 0; i < length; i++) if (bytes[start + i] !== name.charCodeAt(i)) return false
    return true
  }

  /** Whether going through all of its members or elements takes long. */
  get isLarge(): boolean {
    return this.#tape.at[this.#index + 2]! - this.#index > LARGE
  }

  /** Records the members of an object whose values are neither null nor at these places. */
  dropExcept(places: readonly number[], losses: DropList): void {
    const { at, bytes } = this.#tape
    if (this.kind !== 'object') return
    for (let key = this.#index + 3; key < at[this.#index + 2]!; key = at[key + 5]!) {
      const place = at[key + 3]!
      if (bytes[place] === 0x6e || places.includes(place)) continue
      if (losses.isListFull) losses.countOne()
      else losses.drop(new JsonValue(this.#tape, key + 3))
    }
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

  /** The decoded key of the member that `next` returned; empty if no interface has one so long. */
  get name(): string {
    const { start, end } = this.key
    return end - start > LONGEST_NAME ? '' : this.#tape.textAt(this.#current)
  }

  /** Where this key is, quotes included. */
  get key(): { readonly start: number; readonly end: number } {
    const { at } = this.#tape
    return { start: at[this.#current]!, end: at[this.#current + 1]! }
  }
}
