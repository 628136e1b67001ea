// Headers of events (application/vnd.amazon.eventstream, "Headers"): one byte of length and the name, one byte for the type, the value.

/** A value and its type. Timestamps are in milliseconds since the epoch. */
export type EventHeaderValue =
  | { readonly type: 'boolean'; readonly value: boolean }
  | { readonly type: 'byte' | 'short' | 'integer' | 'timestamp'; readonly value: number }
  | { readonly type: 'long'; readonly value: bigint }
  | { readonly type: 'bytes'; readonly value: Uint8Array }
  | { readonly type: 'text' | 'uuid'; readonly value: string }

export type EventHeader = { readonly name: string } & EventHeaderValue

export const TEXT_TYPE = 7
const BYTES_TYPE = 6
/** Bytes of a value, by type; -1: the value begins with two bytes of length. */
const VALUE_BYTES = [0, 0, 1, 2, 4, 8, -1, -1, 8, 16]
const MAX_NAME_BYTES = 255
const MAX_VALUE_BYTES = 32_767

const encoder = new TextEncoder()
const decoder = new TextDecoder('utf-8', { ignoreBOM: true })

/** The end of the header at `at`; -1 if it is malformed, or extends beyond `limit`. At least one byte must follow `limit`. */
export function endOfHeader(bytes: Uint8Array, at: number, limit: number): number {
  const typeAt = at + 1 + bytes[at]!
  if (typeAt === at + 1 || typeAt >= limit) return -1
  const size = VALUE_BYTES[bytes[typeAt]!]
  if (size === undefined) return -1
  const end = size < 0 ? typeAt + 3 + uint16(bytes, typeAt + 1) : typeAt + 1 + size
  return end > limit ? -1 : end
}

/** Whether the header at `at` has that name, which is ASCII text. */
export function hasName(bytes: Uint8Array, at: number, name: string): boolean {
  const { length } = name
  if (bytes[at] !== length) return false
  for (let i = 0; i < length; i++) if (bytes[at + 1 + i] !== name.charCodeAt(i)) return false
  return true
}

/** Decodes the valid header that ends at `end`. A value of type `bytes` is a view. */
export function readHeader(bytes: Uint8Array, at: number, end: number): EventHeader {
  const typeAt = at + 1 + bytes[at]!
  const name = decodeText(bytes, at + 1, typeAt)
  return { name, ...readValue(bytes, typeAt + 1, end, bytes[typeAt]!) }
}

function readValue(bytes: Uint8Array, at: number, end: number, type: number): EventHeaderValue {
  const view = new DataView(bytes.buffer, bytes.byteOffset + at, end - at)
  switch (type) {
    case 0:
    case 1:
      return { type: 'boolean', value: type === 0 }
    case 2:
      return { type: 'byte', value: view.getInt8(0) }
    case 3:
      return { type: 'short', value: view.getInt16(0) }
    case 4:
      return { type: 'integer', value: view.getInt32(0) }
    case 5:
      return { type: 'long', value: view.getBigInt64(0) }
    case BYTES_TYPE:
      return { type: 'bytes', value: bytes.subarray(at + 2, end) }
    case TEXT_TYPE:
      return { type: 'text', value: decodeText(bytes, at + 2, end) }
    case 8:
      return { type: 'timestamp', value: Number(view.getBigInt64(0)) }
    default:
      return { type: 'uuid', value: decodeUuid(bytes.subarray(at, end)) }
  }
}

/** Names and most values are short ASCII text, for which a decoder is slow. */
export function decodeText(bytes: Uint8Array, start: number, end: number): string {
  let text = ''
  for (let at = start; at < end; at++) {
    const byte = bytes[at]!
    if (byte > 127) return decoder.decode(bytes.subarray(start, end))
    text += String.fromCharCode(byte)
  }
  return text
}

function decodeUuid(bytes: Uint8Array): string {
  return bytes.toHex().replace(/^(.{8})(.{4})(.{4})(.{4})/, '$1-$2-$3-$4-')
}

/** Encodes headers. Throws a RangeError if a name or value is longer than the format permits. */
export function encodeHeaders(headers: readonly EventHeader[]): Uint8Array {
  const parts = headers.flatMap((header) => [encodeName(header.name), encodeValue(header)])
  const encoded = new Uint8Array(parts.reduce((length, part) => length + part.length, 0))
  let at = 0
  for (const part of parts) {
    encoded.set(part, at)
    at += part.length
  }
  return encoded
}

function encodeName(text: string): Uint8Array {
  const name = encoder.encode(text)
  if (name.length === 0 || name.length > MAX_NAME_BYTES) throw new RangeError(`a name of ${name.length} bytes`)
  const encoded = new Uint8Array(1 + name.length)
  encoded[0] = name.length
  encoded.set(name, 1)
  return encoded
}

function encodeValue(header: EventHeaderValue): Uint8Array {
  switch (header.type) {
    case 'boolean':
      return Uint8Array.of(header.value ? 0 : 1)
    case 'byte':
      return number(2, (view) => view.setInt8(1, header.value))
    case 'short':
      return number(3, (view) => view.setInt16(1, header.value))
    case 'integer':
      return number(4, (view) => view.setInt32(1, header.value))
    case 'long':
      return number(5, (view) => view.setBigInt64(1, header.value))
    case 'bytes':
      return ofAnyLength(BYTES_TYPE, header.value)
    case 'text':
      return ofAnyLength(TEXT_TYPE, encoder.encode(header.value))
    case 'timestamp':
      return number(8, (view) => view.setBigInt64(1, BigInt(header.value)))
    case 'uuid':
      return Uint8Array.of(9, ...Uint8Array.fromHex(header.value.replaceAll('-', '')))
  }
}

function number(type: number, set: (view: DataView) => void): Uint8Array {
  const encoded = new Uint8Array(1 + VALUE_BYTES[type]!)
  encoded[0] = type
  set(new DataView(encoded.buffer))
  return encoded
}

function ofAnyLength(type: number, value: Uint8Array): Uint8Array {
  if (value.length > MAX_VALUE_BYTES) throw new RangeError(`a value of ${value.length} bytes`)
  const encoded = new Uint8Array(3 + value.length)
  encoded[0] = type
  new DataView(encoded.buffer).setUint16(1, value.length)
  encoded.set(value, 3)
  return encoded
}

function uint16(bytes: Uint8Array, at: number): number {
  return (bytes[at]! << 8) | bytes[at + 1]!
}
