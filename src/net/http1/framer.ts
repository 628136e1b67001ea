import { CHARACTER, FIELD_VALUE, TOKEN } from '../http/field-syntax.ts'
import { BODY_CHUNKED, BODY_CLOSE, BODY_LENGTH, BODY_NONE, type BodyKind } from '../stream.ts'

/** Receives the payload ranges of a framer. */
export interface RangeTaker {
  bytes(buffer: Buffer, start: number, end: number): void
}

const SIZE = 0
const EXTENSION_START = 1
const SIZE_LF = 2
const DATA = 3
const DATA_CR = 4
const DATA_LF = 5
const TRAILER_START = 6
const TRAILER_NAME = 7
const TRAILER_VALUE = 8
const TRAILER_LF = 9
const FINAL_LF = 10
const EXTENSION_NAME = 11
const EXTENSION_VALUE = 16
const EXTENSION_TOKEN = 12
const EXTENSION_QUOTED = 13
const EXTENSION_ESCAPED = 14
const EXTENSION_END = 15

/** Allows chunks up to 4 GiB; more digits could overflow the numbers of other parsers. */
const MAX_SIZE_DIGITS = 8
/** Extensions of one chunk; signed uploads need about 90 bytes. */
const MAX_EXTENSION_BYTES = 1024
/** The trailer section of one body: every byte of it counts, so that many short fields are bounded like few long ones. */
const MAX_TRAILER_BYTES = 16_384

const CR = 13
const LF = 10
const SEMICOLON = 59
const EQUALS = 61
const QUOTE = 34
const BACKSLASH = 92
const COLON = 58
const FINAL_LINE = Buffer.from('\r\n')

/**
 * Finds the end of a body and checks its framing (RFC 9112, 6 and 7). Chunk extensions are ignored; trailers are checked and dropped. One
 * object serves all bodies of a connection in sequence.
 */
export class Framer {
  kind: BodyKind = BODY_NONE
  /** The end of the body was found. */
  done = true
  /** The framing is invalid; the rest of the connection cannot be parsed. */
  bad = false
  #left = 0
  #state = SIZE
  #digits = 0
  #overhead = 0
  /** Inside a trailer section, which is dropped. */
  #dropping = false

  start(kind: BodyKind, length: number): void {
    this.kind = kind
    this.done = kind === BODY_NONE || (kind === BODY_LENGTH && length === 0)
    this.bad = false
    this.#left = kind === BODY_LENGTH ? length : 0
    this.#state = SIZE
    this.#digits = 0
    this.#overhead = 0
    this.#dropping = false
  }

  /** Remaining bytes of a body with a length; -1 if unknown. */
  get left(): number {
    return this.kind === BODY_LENGTH ? this.#left : this.done ? 0 : -1
  }

  /** The connection has ended. @returns whether the body is complete */
  close(): boolean {
    if (this.kind === BODY_CLOSE) this.done = true
    return this.done
  }

  /**
   * Consumes body bytes from `buffer[start, end)` and passes the payload to `taker`; with `framed`, the chunked bytes as received, but
   * without trailers.
   * @returns the index after the consumed bytes; meaningless if `bad`
   */
  feed(buffer: Buffer, start: number, end: number, taker: RangeTaker, framed: boolean): number {
    if (start === end || this.done) return start
    if (this.kind === BODY_CHUNKED) {
      return framed ? this.#feedFramed(buffer, start, end, taker) : this.#feedPayload(buffer, start, end, taker)
    }
    if (this.kind === BODY_CLOSE) {
      taker.bytes(buffer, start, end)
      return end
    }
    const after = Math.min(end, start + this.#left)
    this.#left -= after - start
    this.done = this.#left === 0
    taker.bytes(buffer, start, after)
    return after
  }

  #feedFramed(buffer: Buffer, start: number, end: number, taker: RangeTaker): number {
    let i = start
    let passedTo = this.#dropping ? start : -1
    while (i < end && !this.done) {
      if (this.#state === DATA) {
        i = this.#skipData(i, end)
        continue
      }
      if (this.#state === TRAILER_START && buffer[i] !== CR && !this.#dropping) {
        this.#dropping = true
        passedTo = i
      }
      if (!this.#step(buffer[i]!)) return i
      i++
    }
    if (passedTo < 0) taker.bytes(buffer, start, i)
    else {
      if (passedTo > start) taker.bytes(buffer, start, passedTo)
      if (this.done) taker.bytes(FINAL_LINE, 0, FINAL_LINE.length)
    }
    return i
  }

  #feedPayload(buffer: Buffer, start: number, end: number, taker: RangeTaker): number {
    let i = start
    while (i < end && !this.done) {
      if (this.#state === DATA) {
        const from = i
        i = this.#skipData(i, end)
        taker.bytes(buffer, from, i)
        continue
      }
      if (!this.#step(buffer[i]!)) return i
      i++
    }
    return i
  }

  #skipData(i: number, end: number): number {
    const after = Math.min(end, i + this.#left)
    this.#left -= after - i
    if (this.#left === 0) this.#state = DATA_CR
    return after
  }

  /** Consumes one byte outside chunk data. @returns false if it is invalid there */
  #step(byte: number): boolean {
    switch (this.#state) {
      case SIZE:
        return this.#stepSize(byte)
      case SIZE_LF:
        this.#digits = 0
        this.#overhead = 0
        return this.#expect(byte, LF, this.#left === 0 ? TRAILER_START : DATA)
      case DATA_CR:
        return this.#expect(byte, CR, DATA_LF)
      case DATA_LF:
        return this.#expect(byte, LF, SIZE)
      case TRAILER_START:
      case TRAILER_NAME:
      case TRAILER_VALUE:
      case TRAILER_LF:
        return ++this.#overhead <= MAX_TRAILER_BYTES ? this.#stepTrailer(byte) : this.#fail()
      case FINAL_LF:
        this.done = byte === LF
        return this.done || this.#fail()
      default:
        return ++this.#overhead <= MAX_EXTENSION_BYTES ? this.#stepExtension(byte) : this.#fail()
    }
  }

  /** `;name`, `;name=token` or `;name="quoted"`, without the bad whitespace of RFC 9112, 7.1.1. */
  #stepExtension(byte: number): boolean {
    switch (this.#state) {
      case EXTENSION_QUOTED:
        if (byte === BACKSLASH) this.#state = EXTENSION_ESCAPED
        else if (byte === QUOTE) this.#state = EXTENSION_END
        else if (!isVisible(byte)) return this.#fail()
        return true
      case EXTENSION_ESCAPED:
        this.#state = EXTENSION_QUOTED
        return isVisible(byte) || this.#fail()
      case EXTENSION_START:
        this.#state = EXTENSION_NAME
        return isToken(byte) || this.#fail()
      case EXTENSION_NAME:
        if (byte === EQUALS) this.#state = EXTENSION_VALUE
        else if (!isToken(byte)) return this.#endExtension(byte)
        return true
      case EXTENSION_VALUE:
        this.#state = byte === QUOTE ? EXTENSION_QUOTED : EXTENSION_TOKEN
        return byte === QUOTE || isToken(byte) || this.#fail()
      case EXTENSION_TOKEN:
        return isToken(byte) || this.#endExtension(byte)
      default:
        return this.#endExtension(byte)
    }
  }

  #endExtension(byte: number): boolean {
    if (byte === CR) this.#state = SIZE_LF
    else if (byte === SEMICOLON) this.#state = EXTENSION_START
    else return this.#fail()
    return true
  }

  #stepTrailer(byte: number): boolean {
    switch (this.#state) {
      case TRAILER_START:
        if (byte === CR) this.#state = FINAL_LF
        else if (isToken(byte)) this.#state = TRAILER_NAME
        else return this.#fail()
        return true
      case TRAILER_NAME:
        if (byte === COLON) this.#state = TRAILER_VALUE
        else return isToken(byte) || this.#fail()
        return true
      case TRAILER_VALUE:
        if (byte === CR) this.#state = TRAILER_LF
        else return (CHARACTER[byte]! & FIELD_VALUE) !== 0 || this.#fail()
        return true
      default:
        return this.#expect(byte, LF, TRAILER_START)
    }
  }

  #stepSize(byte: number): boolean {
    const digit = hexDigit(byte)
    if (digit >= 0) {
      this.#left = this.#left * 16 + digit
      return ++this.#digits <= MAX_SIZE_DIGITS || this.#fail()
    }
    if (this.#digits === 0) return this.#fail()
    if (byte === CR) this.#state = SIZE_LF
    else if (byte === SEMICOLON) this.#state = EXTENSION_START
    else return this.#fail()
    return true
  }

  #expect(byte: number, wanted: number, next: number): boolean {
    if (byte !== wanted) return this.#fail()
    this.#state = next
    return true
  }

  #fail(): false {
    this.bad = true
    return false
  }
}

function hexDigit(byte: number): number {
  if (byte >= 48 && byte <= 57) return byte - 48
  const lower = byte | 32
  return lower >= 97 && lower <= 102 ? lower - 87 : -1
}

function isToken(byte: number): boolean {
  return (CHARACTER[byte]! & TOKEN) !== 0
}

/** Whether a byte may occur in a quoted extension value: ASCII without controls. */
function isVisible(byte: number): boolean {
  return (byte >= 32 && byte < 127) || byte === 9
}
