import { Pace, type Steps } from '#base/in-slices.ts'
import { allocate, decodeText } from './native.ts'
import { copyOf } from './splice.ts'

const encoder = new TextEncoder()

/** Shorter texts and bytes are cheaper to copy one by one than with a call of the platform. */
const SHORT = 64

const QUOTE = 0x22
const COMMA = 0x2c
const COLON = 0x3a
const OPEN_BRACKET = 0x5b
const BACKSLASH = 0x5c
const CLOSE_BRACKET = 0x5d
const OPEN_BRACE = 0x7b
const CLOSE_BRACE = 0x7d

/** JSON text that is written as it is. */
export type JsonText = Uint8Array | JsonPieces

/**
 * JSON text in several pieces, for a value that is made of a part of another one, such as a data URL. Text pieces are ASCII or belong into a
 * JSON string as they are.
 */
export class JsonPieces {
  readonly pieces: readonly (string | Uint8Array)[]

  constructor(pieces: readonly (string | Uint8Array)[]) {
    this.pieces = pieces
  }
}

/**
 * Text with the type of the value that it stands for, so that a body made of it can be checked against the types of its vendor at compile
 * time. Only `writeJson` may read it.
 */
export function asIs<Value>(text: JsonText): Value {
  return text as unknown as Value
}

/** JSON text as a string. */
export function decodeJson(text: JsonText): string {
  return decodeText(text instanceof Uint8Array ? text : writeJson(text))
}

/** Serializes a value. Like `JSON.stringify`, but JSON text in it is copied, and no string of the whole is built. */
export function writeJson(value: unknown): Uint8Array {
  const out = new Output()
  out.value(value)
  return out.take()
}

/** The same for a value that may be long. */
export function* writeInSteps(value: unknown): Steps<Uint8Array> {
  const out = new Output()
  yield* out.valueInSteps(value)
  return out.take()
}

/** Where the next value is written; undefined while another one is. */
let spare: Uint8Array | undefined
const FIRST_ROOM = 4096
/** The largest room that is kept for the next value. */
const MAX_SPARE = 65_536

/** The work for an element of a list, in the units of `Pace`. */
const ELEMENT = 64
const pace = new Pace()

/** Bytes that are copied only once, into the result. */
const LARGE = 4096

class Output {
  /** What follows the last of `#pieces`. */
  #room = spare ?? allocate(FIRST_ROOM)
  #at = 0
  #pieces: Uint8Array[] | undefined

  constructor() {
    spare = undefined
  }

  value(value: unknown): void {
    if (typeof value === 'string') this.#string(value)
    else if (typeof value !== 'object' || value === null) this.#text(JSON.stringify(value) ?? 'null')
    else if (value instanceof Uint8Array) this.#bytes(value)
    else if (value instanceof JsonPieces) this.#copy(value)
    else if (Array.isArray(value)) this.#array(value)
    else this.#object(value)
  }

  /** The same, but yields between elements of lists. A generator for each value would be too slow for short bodies. */
  *valueInSteps(value: unknown): Steps<void> {
    if (Array.isArray(value)) yield* this.#arrayInSteps(value)
    else if (isObject(value)) yield* this.#objectInSteps(value)
    else this.value(value)
  }

  *#arrayInSteps(values: readonly unknown[]): Steps<void> {
    this.#byte(OPEN_BRACKET)
    for (let i = 0; i < values.length; i++) {
      if (i > 0) this.#byte(COMMA)
      yield* this.valueInSteps(values[i])
      if (pace.after(ELEMENT)) yield
    }
    this.#byte(CLOSE_BRACKET)
  }

  *#objectInSteps(members: object): Steps<void> {
    this.#byte(OPEN_BRACE)
    let isFirst = true
    for (const key of Object.keys(members)) {
      const value = (members as Readonly<Record<string, unknown>>)[key]
      if (value === undefined) continue
      this.#key(key, isFirst)
      isFirst = false
      if (typeof value === 'object') yield* this.valueInSteps(value)
      else this.value(value)
    }
    this.#byte(CLOSE_BRACE)
  }

  #copy({ pieces }: JsonPieces): void {
    for (const piece of pieces) {
      if (typeof piece === 'string') this.#text(piece)
      else this.#bytes(piece)
    }
  }

  #array(values: readonly unknown[]): void {
    this.#byte(OPEN_BRACKET)
    for (let i = 0; i < values.length; i++) {
      if (i > 0) this.#byte(COMMA)
      this.value(values[i])
    }
    this.#byte(CLOSE_BRACKET)
  }

  #object(members: object): void {
    this.#byte(OPEN_BRACE)
    let isFirst = true
    for (const key of Object.keys(members)) {
      const value = (members as Readonly<Record<string, unknown>>)[key]
      if (value === undefined) continue
      this.#key(key, isFirst)
      isFirst = false
      this.value(value)
    }
    this.#byte(CLOSE_BRACE)
  }

  #key(key: string, isFirst: boolean): void {
    if (!isFirst) this.#byte(COMMA)
    this.#string(key)
    this.#byte(COLON)
  }

  /** Short texts rarely need escapes. */
  #string(text: string): void {
    if (text.length > SHORT) return this.#text(JSON.stringify(text))
    this.#reserve(text.length + 2)
    const room = this.#room
    let at = this.#at
    room[at++] = QUOTE
    for (let i = 0; i < text.length; i++) {
      const unit = text.charCodeAt(i)
      if (unit < 0x20 || unit > 0x7e || unit === QUOTE || unit === BACKSLASH) return this.#text(JSON.stringify(text))
      room[at++] = unit
    }
    room[at++] = QUOTE
    this.#at = at
  }

  #text(text: string): void {
    // A UTF-16 unit has at most 3 bytes in UTF-8.
    this.#reserve(text.length * 3)
    const room = this.#room
    let at = this.#at
    if (text.length > SHORT) {
      this.#at += encoder.encodeInto(text, room.subarray(at)).written
      return
    }
    for (let i = 0; i < text.length; i++) {
      const unit = text.charCodeAt(i)
      if (unit > 0x7f) {
        this.#at += encoder.encodeInto(text, room.subarray(this.#at)).written
        return
      }
      room[at++] = unit
    }
    this.#at = at
  }

  #byte(byte: number): void {
    this.#reserve(1)
    this.#room[this.#at++] = byte
  }

  #bytes(bytes: Uint8Array): void {
    const { length } = bytes
    if (length > LARGE) {
      this.#pieces ??= []
      this.#pieces.push(copyOf(this.#room.subarray(0, this.#at)), bytes)
      this.#at = 0
      return
    }
    this.#reserve(length)
    if (length > SHORT) this.#room.set(bytes, this.#at)
    else for (let i = 0; i < length; i++) this.#room[this.#at + i] = bytes[i]!
    this.#at += length
  }

  #reserve(count: number): void {
    if (this.#at + count <= this.#room.length) return
    const grown = allocate(Math.max(this.#at + count, 2 * this.#room.length))
    grown.set(this.#room.subarray(0, this.#at))
    this.#room = grown
  }

  /** The bytes, once. */
  take(): Uint8Array {
    const last = this.#room.subarray(0, this.#at)
    const pieces = this.#pieces ?? []
    let size = last.length
    for (const piece of pieces) size += piece.length
    const out = allocate(size)
    let at = 0
    for (const piece of pieces) {
      out.set(piece, at)
      at += piece.length
    }
    out.set(last, at)
    if (this.#room.length <= MAX_SPARE) spare = this.#room
    return out
  }
}

/** Whether it is written as an object. */
function isObject(value: unknown): value is object {
  return typeof value === 'object' && value !== null && !(value instanceof Uint8Array || value instanceof JsonPieces)
}
