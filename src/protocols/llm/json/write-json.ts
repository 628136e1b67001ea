import { allocate, decodeText } from './native.ts'

const encoder = new TextEncoder()

/** Shorter texts and bytes are cheaper to copy one by one than with a call of the platform. */
const SHORT = 64

/** Needs no escapes. */
const PLAIN = /^\w+$/

/** JSON text that is written as it is. */
export type JsonText = Uint8Array | JsonPieces

/**
 * JSON text in several pieces, for a value that is made of a part of another one, such as a data URL. Text pieces are ASCII or belong into a
 * JSON string as they are.
 */
export class JsonPieces {
  readonly pieces: readonly (string | Uint8Array)[]

  constructor(...pieces: (string | Uint8Array)[]) {
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
  return out.join()
}

class Output {
  readonly #pieces: (string | Uint8Array)[] = []
  #text = ''

  value(value: unknown): void {
    if (value instanceof Uint8Array) this.#bytes(value)
    else if (value instanceof JsonPieces) this.#copy(value)
    else if (Array.isArray(value)) this.#array(value)
    else if (typeof value === 'object' && value !== null) this.#object(value)
    else this.#text += typeof value === 'string' ? quote(value) : (JSON.stringify(value) ?? 'null')
  }

  #copy({ pieces }: JsonPieces): void {
    for (const piece of pieces) {
      if (typeof piece === 'string') this.#text += piece
      else this.#bytes(piece)
    }
  }

  #array(values: readonly unknown[]): void {
    let separator = '['
    for (const value of values) {
      this.#text += separator
      this.value(value)
      separator = ','
    }
    this.#text += separator === '[' ? '[]' : ']'
  }

  #object(members: object): void {
    let separator = '{'
    for (const key of Object.keys(members)) {
      const value = (members as Readonly<Record<string, unknown>>)[key]
      if (value === undefined) continue
      this.#text += `${separator}${quote(key)}:`
      this.value(value)
      separator = ','
    }
    this.#text += separator === '{' ? '{}' : '}'
  }

  #bytes(bytes: Uint8Array): void {
    if (this.#text !== '') this.#pieces.push(this.#text)
    this.#text = ''
    this.#pieces.push(bytes)
  }

  join(): Uint8Array {
    if (this.#text !== '') this.#pieces.push(this.#text)
    let size = 0
    // A UTF-16 unit has at most 3 bytes in UTF-8.
    for (const piece of this.#pieces) size += typeof piece === 'string' ? piece.length * 3 : piece.length
    const out = allocate(size)
    let at = 0
    for (const piece of this.#pieces) {
      if (typeof piece === 'string') at = write(piece, out, at)
      else at = copy(piece, out, at)
    }
    return out.subarray(0, at)
  }
}

function quote(text: string): string {
  return text.length <= SHORT && PLAIN.test(text) ? `"${text}"` : JSON.stringify(text)
}

/** @returns the position after the text */
function write(text: string, out: Uint8Array, start: number): number {
  if (text.length <= SHORT) {
    let at = start
    for (let i = 0; i < text.length; i++) {
      const unit = text.charCodeAt(i)
      if (unit > 0x7f) return start + encoder.encodeInto(text, out.subarray(start)).written
      out[at++] = unit
    }
    return at
  }
  return start + encoder.encodeInto(text, out.subarray(start)).written
}

/** @returns the position after the bytes */
function copy(bytes: Uint8Array, out: Uint8Array, start: number): number {
  if (bytes.length > SHORT) out.set(bytes, start)
  else for (let i = 0; i < bytes.length; i++) out[start + i] = bytes[i]!
  return start + bytes.length
}
