import { MemberReader, type WantedMembers } from '../json/member-reader.ts'
import { encode } from '../json/splice.ts'

const LF = 0x0a
const CR = 0x0d
const SPACE = 0x20
const COLON = 0x3a

/** Longer names are cut off. */
const MAX_NAME = 128

/**
 * An event that is too long to be held. It is read as its parts pass: its name, and selected members of the JSON object in its data lines.
 */
export class LongEvent {
  readonly #reader: MemberReader
  /** `type` comes first, so that it is found without an event line, too. */
  readonly #members: Record<string, unknown> = { type: undefined }
  #name = ''
  /** What the bytes at this place are: a field name, the optional space before a value, a value, or something to skip. */
  #state: 'field' | 'space' | 'data' | 'event' | 'skipped' = 'field'
  /** The name of the current field so far. */
  #field = ''

  /** @param members paths of the members that are read; they are short, so they count as no body in memory */
  constructor(members: WantedMembers) {
    // An error is one however long it is.
    const skipped = (path: string) => {
      if (path === 'error' || path.endsWith('.error')) this.#set(path, {})
    }
    this.#reader = new MemberReader(members, (path, value) => this.#set(path, value), { exact: true, skipped })
  }

  /** The JSON object has ended. */
  get isWhole(): boolean {
    return this.#reader.isOver
  }

  push(bytes: Uint8Array, start: number, end: number): void {
    let at = start
    while (at < end) {
      const byte = bytes[at]!
      if (byte === LF || byte === CR) {
        this.#state = 'field'
        this.#field = ''
        at++
      } else if (this.#state === 'field') {
        this.#readFieldName(byte)
        at++
      } else if (this.#state === 'space') {
        this.#state = this.#field === 'data' ? 'data' : 'event'
        if (byte === SPACE) at++
      } else at = this.#readValue(bytes, at, end)
    }
  }

  /** An event with this name and these members only, to be read like any other. */
  get reduced(): Uint8Array {
    return encode(`event: ${this.#name}\ndata: ${JSON.stringify(this.#members)}\n\n`)
  }

  #readFieldName(byte: number): void {
    if (byte !== COLON) {
      // A longer name is none that matters.
      if (this.#field.length < 6) this.#field += String.fromCharCode(byte)
      // A stream may begin with a byte order mark.
      if (this.#field === '\xef\xbb\xbf') this.#field = ''
    } else if (this.#field === 'data' || this.#field === 'event') {
      if (this.#field === 'event') this.#name = ''
      this.#state = 'space'
    } else this.#state = 'skipped'
  }

  /** @returns index after the bytes that were read */
  #readValue(bytes: Uint8Array, start: number, end: number): number {
    let lineEnd = start
    while (lineEnd < end && bytes[lineEnd] !== LF && bytes[lineEnd] !== CR) lineEnd++
    if (this.#state === 'data') this.#reader.push(bytes.subarray(start, lineEnd))
    else if (this.#state === 'event') {
      for (let at = start; at < lineEnd && this.#name.length < MAX_NAME; at++) {
        this.#name += String.fromCharCode(bytes[at]!)
      }
    }
    return lineEnd
  }

  #set(path: string, value: unknown): void {
    let place = this.#members
    const keys = path.split('.')
    const last = keys.pop()!
    for (const key of keys) {
      place[key] ??= {}
      place = place[key] as Record<string, unknown>
    }
    place[last] = value
  }
}
