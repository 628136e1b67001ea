/** Nested messages; more would overflow the stack. */
const MAX_DEPTH = 64

/** Text up to this length is decoded by hand, which is faster than a decoder if it is ASCII. */
const SHORT_TEXT = 64

const strictDecoder = new TextDecoder('utf-8', { fatal: true, ignoreBOM: true })

/** How the bytes of a field are delimited. */
export const VARINT = 0
export const FIXED64 = 1
export const DELIMITED = 2
const FIXED32 = 5
export type WireType = typeof VARINT | typeof FIXED64 | typeof DELIMITED | typeof FIXED32

/** The bytes do not follow the protobuf wire format. Only `decode` sees it. */
export class MalformedMessage extends Error {}

/** Reads one message in the protobuf wire format. Its methods throw `MalformedMessage`. */
export class Reader {
  readonly #bytes: Uint8Array
  #at = 0
  #end: number
  #depth = 0

  constructor(bytes: Uint8Array) {
    this.#bytes = bytes
    this.#end = bytes.length
  }

  /** Nothing is left of the current message. */
  get atEnd(): boolean {
    return this.#at >= this.#end
  }

  /** Index of the next byte. */
  get position(): number {
    return this.#at
  }

  /** Lengths, tags and integers that are not negative. More than 53 bits lose precision. */
  varint(): number {
    let value = 0
    let weight = 1
    for (let count = 0; count < 10; count++) {
      const byte = this.#byte()
      value += (byte & 0x7f) * weight
      if (byte < 0x80) return value
      weight *= 0x80
    }
    throw new MalformedMessage('an integer has more than ten bytes')
  }

  /** The low 32 bits of an integer, as signed number: all of an int32 or an enum. */
  int32(): number {
    let low = 0
    for (let count = 0; count < 10; count++) {
      const byte = this.#byte()
      if (count < 5) low |= (byte & 0x7f) << (7 * count)
      if (byte < 0x80) return low
    }
    throw new MalformedMessage('an integer has more than ten bytes')
  }

  /** A signed 64-bit integer. More than 53 bits lose precision. */
  int64(): number {
    let value = 0n
    for (let count = 0n; count < 10n; count++) {
      const byte = this.#byte()
      value |= BigInt(byte & 0x7f) << (7n * count)
      if (byte < 0x80) return Number(BigInt.asIntN(64, value))
    }
    throw new MalformedMessage('an integer has more than ten bytes')
  }

  double(): number {
    const at = this.#advance(8)
    return new DataView(this.#bytes.buffer, this.#bytes.byteOffset + at, 8).getFloat64(0, true)
  }

  /** A copy: the input may be part of a larger buffer. */
  bytes(): Uint8Array {
    const length = this.varint()
    const at = this.#advance(length)
    return this.#bytes.slice(at, at + length)
  }

  /** Refuses text that is not UTF-8. */
  text(): string {
    const length = this.varint()
    const at = this.#advance(length)
    return this.#shortAscii(at, length) ?? this.#utf8(at, length)
  }

  /** Reads a nested message with `read`, which sees its end as the end. */
  nested<T>(read: (input: Reader) => T): T {
    const length = this.varint()
    const start = this.#advance(length)
    const outerEnd = this.#end
    if (++this.#depth > MAX_DEPTH) throw new MalformedMessage(`messages are nested more than ${MAX_DEPTH} deep`)
    this.#at = start
    this.#end = start + length
    const value = read(this)
    this.#depth--
    this.#end = outerEnd
    return value
  }

  /** Skips the value of an unknown field. */
  skip(wire: number): void {
    switch (wire) {
      case VARINT:
        return void this.varint()
      case FIXED64:
        return void this.#advance(8)
      case DELIMITED:
        return void this.#advance(this.varint())
      case FIXED32:
        return void this.#advance(4)
      default:
        // Groups do not exist in proto3.
        throw new MalformedMessage(`unknown wire type ${wire}`)
    }
  }

  #shortAscii(at: number, length: number): string | undefined {
    if (length > SHORT_TEXT) return undefined
    let text = ''
    for (let i = at; i < at + length; i++) {
      const byte = this.#bytes[i]!
      if (byte > 0x7f) return undefined
      text += String.fromCharCode(byte)
    }
    return text
  }

  #utf8(at: number, length: number): string {
    try {
      return strictDecoder.decode(this.#bytes.subarray(at, at + length))
    } catch {
      throw new MalformedMessage('a text is not UTF-8')
    }
  }

  #byte(): number {
    if (this.#at >= this.#end) throw new MalformedMessage('the message ends too early')
    return this.#bytes[this.#at++]!
  }

  /** @returns the position before the skipped bytes */
  #advance(count: number): number {
    const at = this.#at
    if (count > this.#end - at) throw new MalformedMessage('the message ends too early')
    this.#at = at + count
    return at
  }
}
