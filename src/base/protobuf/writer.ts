const START_BYTES = 4096
/** The memory of a larger message is not kept for the next one. */
const MAX_KEPT_BYTES = 65_536

const encoder = new TextEncoder()

/** Values of hexadecimal digits in lower case, by their character. */
const DIGITS = new Uint8Array(128)
for (const [value, digit] of [...'0123456789abcdef'].entries()) DIGITS[digit.charCodeAt(0)] = value

/** The bytes of one message in the protobuf wire format, in a buffer that grows. */
export class Writer {
  #bytes: Uint8Array
  #length = 0

  /** @param startBytes of the first buffer: enough for the usual message */
  constructor(startBytes = START_BYTES) {
    this.#bytes = new Uint8Array(startBytes)
  }

  /** A view of the written bytes; valid until more is written. */
  get written(): Uint8Array {
    return this.#bytes.subarray(0, this.#length)
  }

  clear(): void {
    if (this.#bytes.length > MAX_KEPT_BYTES) this.#bytes = new Uint8Array(START_BYTES)
    this.#length = 0
  }

  /** @param value an integer from 0 to 2^53 */
  varint(value: number): void {
    this.#reserve(10)
    while (value > 0x7f) {
      this.#bytes[this.#length++] = (value % 0x80) | 0x80
      value = Math.floor(value / 0x80)
    }
    this.#bytes[this.#length++] = value
  }

  /** Ten bytes, as negative integers of every width have (two's complement in 64 bits). @param value from -2^53 */
  negativeVarint(value: number): void {
    this.#reserve(10)
    let rest = BigInt.asUintN(64, BigInt(value))
    for (; rest > 0x7fn; rest >>= 7n) this.#bytes[this.#length++] = Number(rest & 0x7fn) | 0x80
    this.#bytes[this.#length++] = Number(rest)
  }

  double(value: number): void {
    this.#reserve(8)
    new DataView(this.#bytes.buffer).setFloat64(this.#length, value, true)
    this.#length += 8
  }

  fixed32(value: number): void {
    this.#reserve(4)
    const bytes = this.#bytes
    const at = this.#length
    bytes[at] = value
    bytes[at + 1] = value >>> 8
    bytes[at + 2] = value >>> 16
    bytes[at + 3] = value >>> 24
    this.#length = at + 4
  }

  /** @param low the lower 32 bits */
  fixed64(low: number, high: number): void {
    this.fixed32(low)
    this.fixed32(high)
  }

  /** What another writer wrote, without a length. */
  encoded(value: Uint8Array): void {
    this.#reserve(value.length)
    this.#bytes.set(value, this.#length)
    this.#length += value.length
  }

  /** Bytes in hexadecimal digits, with their length. @param digits an even number of digits */
  hex(digits: string): void {
    const length = digits.length / 2
    this.varint(length)
    this.#reserve(length)
    const bytes = this.#bytes
    const start = this.#length
    for (let i = 0; i < length; i++) {
      bytes[start + i] = (DIGITS[digits.charCodeAt(2 * i)]! << 4) | DIGITS[digits.charCodeAt(2 * i + 1)]!
    }
    this.#length = start + length
  }

  /** Bytes with their length. */
  bytes(value: Uint8Array): void {
    this.varint(value.length)
    this.#reserve(value.length)
    this.#bytes.set(value, this.#length)
    this.#length += value.length
  }

  /** Text in UTF-8, with its length. Half of a surrogate pair becomes U+FFFD. */
  text(value: string): void {
    const { length } = value
    this.varint(length)
    this.#reserve(length)
    const start = this.#length
    for (let i = 0; i < length; i++) {
      const code = value.charCodeAt(i)
      if (code > 0x7f) {
        // `varint` wrote a length that is too small.
        this.#length = start - varintBytes(length)
        return this.bytes(encoder.encode(value))
      }
      this.#bytes[start + i] = code
    }
    this.#length = start + length
  }

  /** What `write` writes, with its length. */
  nested<T>(value: T, write: (out: Writer, value: T) => void): void {
    const start = this.begin()
    write(this, value)
    this.end(start)
  }

  /** Begins a part with a length. @returns what `end` needs */
  begin(): number {
    this.#reserve(1)
    return ++this.#length
  }

  /** Ends the part, and writes its length before it. */
  end(start: number): void {
    const length = this.#length - start
    if (length > 0x7f) this.#widen(start, length)
    else this.#bytes[start - 1] = length
  }

  /** Moves `length` bytes to make room for a length of more than one byte before them. */
  #widen(start: number, length: number): void {
    const added = varintBytes(length) - 1
    this.#reserve(added)
    this.#bytes.copyWithin(start + added, start, start + length)
    this.#length = start - 1
    this.varint(length)
    this.#length += length
  }

  #reserve(more: number): void {
    const needed = this.#length + more
    if (needed <= this.#bytes.length) return
    const larger = new Uint8Array(Math.max(needed, 2 * this.#bytes.length))
    larger.set(this.written)
    this.#bytes = larger
  }
}

function varintBytes(value: number): number {
  let count = 1
  for (; value > 0x7f; value = Math.floor(value / 0x80)) count++
  return count
}
