import type { Steps } from '#base/in-slices.ts'
import { parseJson } from '#base/parse-json.ts'
import { endOfPiece, PIECE_BYTES } from './json-pieces.ts'
import { decodeLatin1 } from './native.ts'
import { skipString } from './skip-value.ts'
import { Unreadable } from './unreadable.ts'

/** Strings up to this length are examined byte by byte; the native parser is faster for longer ones. */
export const NEAR_BYTES = 384

/**
 * The position after the string whose content starts at `from`, which must be valid, if its end is near, as that of most strings; otherwise
 * `~position` up to which the content is valid.
 */
export function endOfNearString(bytes: Uint8Array, from: number): number {
  const near = Math.min(from + NEAR_BYTES, bytes.length)
  let at = from
  for (; at < near; at++) {
    const byte = bytes[at]!
    if (byte === 0x22) return at + 1
    if (byte < 0x20) throw new Unreadable('not-json', at)
    if (byte === 0x5c) at = endOfEscape(bytes, at) - 1
  }
  return ~at
}

/** The same for any string. Yields between pieces of it. */
export function* endOfLongString(bytes: Uint8Array, from: number): Steps<number> {
  let at = from
  while (!isLastPiece(bytes, at)) {
    const end = skipString(bytes.subarray(0, at + PIECE_BYTES), at)
    if (end >= 0) {
      checkLong(bytes, at, end - 1)
      return end
    }
    const next = endOfPiece(bytes, at)
    checkLong(bytes, at, next)
    at = next
    yield
  }
  return endOfLastPiece(bytes, at)
}

/** Whether a string that has come to `at` ends, or the text does, before it has to yield. */
export function isLastPiece(bytes: Uint8Array, at: number): boolean {
  return bytes.length - at <= PIECE_BYTES
}

export function endOfLastPiece(bytes: Uint8Array, at: number): number {
  const end = skipString(bytes, at)
  if (end < 0) throw new Unreadable('not-json', bytes.length)
  checkLong(bytes, at, end - 1)
  return end
}

function checkBytes(bytes: Uint8Array, start: number, end: number): void {
  for (let at = start; at < end; at++) {
    const byte = bytes[at]!
    if (byte < 0x20) throw new Unreadable('not-json', at)
    if (byte === 0x5c) at = endOfEscape(bytes, at) - 1
  }
}

/** Only the position of a fault needs a look at each byte. */
function checkLong(bytes: Uint8Array, start: number, end: number): void {
  try {
    parseJson(`"${decodeLatin1(bytes, start, end)}"`)
  } catch {
    checkBytes(bytes, start, end)
  }
}

/** The position after the escape at `at` (RFC 8259, 7). */
function endOfEscape(bytes: Uint8Array, at: number): number {
  const letter = bytes[at + 1]!
  if (letter !== 0x75) {
    if (!'"\\/bfnrt'.includes(String.fromCharCode(letter))) throw new Unreadable('not-json', at)
    return at + 2
  }
  for (let i = at + 2; i < at + 6; i++) if (!isHex(bytes[i]!)) throw new Unreadable('not-json', at)
  return at + 6
}

function isHex(byte: number): boolean {
  return (byte >= 0x30 && byte <= 0x39) || ((byte | 0x20) >= 0x61 && (byte | 0x20) <= 0x66)
}
