import { JsonPieces, type JsonText } from '../json/write-json.ts'

const SPACE = 0x20
const BACKSLASH = 0x5c
/** `n`, `r` and `t`: the letters of escaped white space. */
const SPACE_LETTERS: readonly (number | undefined)[] = [0x6e, 0x72, 0x74]

/** A piece of the text of a string, with its quotes. */
const BLANK_PIECE = /^(?:[" ]|\\[nrt])*$/

/** Whether a string has only white space: the API refuses such texts. */
export function isBlank(text: JsonText): boolean {
  if (text instanceof Uint8Array) return isBlankWithin(text.subarray(0, -1), 1)
  return text.pieces.every((piece) => (typeof piece === 'string' ? BLANK_PIECE.test(piece) : isBlankWithin(piece, 0)))
}

function isBlankWithin(bytes: Uint8Array, start: number): boolean {
  for (let at = start; at < bytes.length; at++) {
    if (bytes[at] === SPACE) continue
    if (bytes[at] !== BACKSLASH || !SPACE_LETTERS.includes(bytes[at + 1])) return false
    at++
  }
  return true
}

/** The string without white space at its end. */
export function trimEnd(text: JsonText): JsonText {
  if (text instanceof JsonPieces) return text
  let end = text.length - 1
  for (;;) {
    if (end > 1 && text[end - 1] === SPACE) end--
    else if (endsInEscapedSpace(text, end)) end -= 2
    else break
  }
  return end === text.length - 1 ? text : new JsonPieces([text.subarray(0, end), '"'])
}

function endsInEscapedSpace(text: Uint8Array, end: number): boolean {
  if (!SPACE_LETTERS.includes(text[end - 1])) return false
  let backslashes = 0
  while (text[end - 2 - backslashes] === BACKSLASH) backslashes++
  return backslashes % 2 === 1
}
