import type { Steps } from '#base/in-slices.ts'
import { parseJson } from '#base/parse-json.ts'
import { decodeText } from './native.ts'
import { encode, type Splice } from './splice.ts'

/** Bytes of a string that are read at a time: a fraction of a millisecond. */
export const PIECE_BYTES = 65_536
/** Enough to see what a text begins with. */
const BEGINNING_BYTES = 256

/** The end of the piece of a string that begins at `start`: `length` bytes after it at most, and neither inside an escape nor inside a character. */
export function endOfPiece(bytes: Uint8Array, start: number, length = PIECE_BYTES): number {
  const limit = start + length
  // The longest escape is a backslash with five characters after it. One that is farther away would be searched in all of the text, for each piece.
  const near = limit - 5
  const found = bytes.subarray(near, limit).lastIndexOf(0x5c)
  if (found < 0) return startOfCharacter(bytes, limit)
  const slash = near + found
  let first = slash
  while (first > start && bytes[first - 1] === 0x5c) first--
  const isEscaped = (slash - first) % 2 === 1
  return isEscaped ? slash + 1 : slash
}

/** Of the character with the byte at `at`, in UTF-8. */
function startOfCharacter(bytes: Uint8Array, at: number): number {
  let start = at
  while ((bytes[start]! & 0xc0) === 0x80) start--
  return start
}

/** The text of a JSON string whose content is from `start` to `end`; it may have lone surrogates. */
export function decodeString(bytes: Uint8Array, start: number, end: number): string {
  const text = decodeText(bytes, start, end)
  if (!text.includes('\\')) return text
  return parseJson(`"${text}"`) as string
}

/** The same in pieces. Yields between them. */
export function* decodeLongString(bytes: Uint8Array, start: number, end: number): Steps<string> {
  let text = ''
  let at = start
  while (end - at > PIECE_BYTES) {
    const next = endOfPiece(bytes, at)
    text += decodeString(bytes, at, next)
    at = next
    yield
  }
  return text + decodeString(bytes, at, end)
}

/** The same up to the first piece that has more than spaces: what a long text begins with, without the rest. */
export function decodeBeginning(bytes: Uint8Array, start: number, end: number): string {
  let text = ''
  for (let at = start; at < end && !/[^ \t\r\n]/.test(text); ) {
    const next = end - at > BEGINNING_BYTES ? endOfPiece(bytes, at, BEGINNING_BYTES) : end
    text = decodeString(bytes, at, next)
    at = next
  }
  return text
}

/** Edits that replace the value from `start` to `end` by a string. Yields between pieces of a long one. */
export function* replaceByString(splices: Splice[], start: number, end: number, text: string): Steps<void> {
  let from = 0
  let place = { start, end }
  let quote = '"'
  while (text.length - from > PIECE_BYTES) {
    const limit = from + PIECE_BYTES
    const next = isHighSurrogate(text.charCodeAt(limit - 1)) ? limit - 1 : limit
    splices.push({ ...place, text: encode(quote + JSON.stringify(text.slice(from, next)).slice(1, -1)) })
    from = next
    place = { start: end, end }
    quote = ''
    yield
  }
  splices.push({ ...place, text: encode(quote + JSON.stringify(text.slice(from)).slice(1)) })
}

function isHighSurrogate(unit: number): boolean {
  return unit >= 0xd800 && unit < 0xdc00
}
