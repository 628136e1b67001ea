// What Node does natively with bytes, and the same with what browsers have, too: `explain` runs in both.

interface Slices {
  utf8Slice(this: Uint8Array, start: number, end: number): string
  latin1Slice(this: Uint8Array, start: number, end: number): string
  indexOf(this: Uint8Array, text: string, from: number, encoding: 'latin1'): number
}

interface Platform {
  readonly Buffer?: {
    readonly prototype: unknown
    allocUnsafe(length: number): Uint8Array
    from(text: string): Uint8Array
  }
  readonly process?: { getBuiltinModule(name: 'node:buffer'): { isUtf8(bytes: Uint8Array): boolean } }
}

const { Buffer: NodeBuffer, process: nodeProcess } = globalThis as unknown as Platform
const slices = NodeBuffer?.prototype as Slices | undefined

const encoder = new TextEncoder()
const utf8 = new TextDecoder('utf-8', { ignoreBOM: true })
const strictUtf8 = new TextDecoder('utf-8', { fatal: true })

const utf8Slice =
  slices?.utf8Slice ??
  function (this: Uint8Array, start: number, end: number): string {
    return utf8.decode(this.subarray(start, end))
  }
const latin1Slice =
  slices?.latin1Slice ??
  function (this: Uint8Array, start: number, end: number): string {
    let text = ''
    for (let at = start; at < end; at++) text += String.fromCharCode(this[at]!)
    return text
  }

/**
 * The UTF-8 text of `bytes` from `start` to `end`. Takes half the time of a `TextDecoder`, and less than building a string byte by byte, even of
 * four bytes.
 */
export function decodeText(bytes: Uint8Array, start = 0, end: number = bytes.length): string {
  return utf8Slice.call(bytes, start, end)
}

/** The same with one character for each byte. */
export function decodeLatin1(bytes: Uint8Array, start: number, end: number): string {
  return latin1Slice.call(bytes, start, end)
}

/** Whether `bytes` have `text`, which must be ASCII. Takes time in proportion to their length, whatever they are. */
export const hasText: (bytes: Uint8Array, text: string) => boolean =
  slices === undefined
    ? (bytes, text) => decodeLatin1(bytes, 0, bytes.length).includes(text)
    : (bytes, text) => slices.indexOf.call(bytes, text, 0, 'latin1') >= 0

/** Whether `bytes` are valid UTF-8. Decoding 5 MB takes 3 ms, looking at them 0.06 ms. */
export const isUtf8: (bytes: Uint8Array) => boolean =
  nodeProcess?.getBuiltinModule('node:buffer').isUtf8 ??
  ((bytes) => {
    try {
      strictUtf8.decode(bytes)
      return true
    } catch {
      return false
    }
  })

/** The UTF-8 bytes of a text. Short ones share memory, which takes half the time of a `TextEncoder`. */
export const encodeText: (text: string) => Uint8Array =
  NodeBuffer === undefined ? (text) => encoder.encode(text) : (text) => NodeBuffer.from(text)

/** Bytes with any contents; small ones take a tenth of the time of a `Uint8Array`. */
export const allocate: (length: number) => Uint8Array = NodeBuffer?.allocUnsafe ?? ((length) => new Uint8Array(length))

/** Position of the first byte that cannot belong to UTF-8; -1 if all can. Searches only bytes that have one. */
export function findInvalidUtf8(bytes: Uint8Array): number {
  if (isUtf8(bytes)) return -1
  // What is no UTF-8 is decoded to U+FFFD.
  const replaced = encodeText(decodeText(bytes))
  return bytes.findIndex((byte, at) => byte !== replaced[at])
}
