import { parseExactJson } from '#base/exact-json.ts'
import { decodeText } from './json/decode-text.ts'
import { readsAt } from './json/reads-at.ts'

/** Index of the text of the first data line of a block; -1 if there is none. */
export function dataStart(piece: Uint8Array, start: number, end: number): number {
  for (let line = start; line >= 0 && line < end; line = nextLine(piece, line, end)) {
    if (readsAt(piece, line, 'data:')) return piece[line + 5] === 0x20 ? line + 6 : line + 5
  }
  return -1
}

function nextLine(piece: Uint8Array, line: number, end: number): number {
  for (let at = line; at < end; at++) if (piece[at] === 0x0a || piece[at] === 0x0d) return at + 1
  return end
}

/** The JSON of a block's data lines; undefined if it is invalid. */
export function parseData(piece: Uint8Array, start: number, end: number): unknown {
  let data = ''
  for (const line of decodeText(piece, start, end).split(/\r\n|\r|\n/)) {
    if (line.startsWith('data:')) data += `${line.slice(5)}\n`
  }
  try {
    return parseExactJson(data)
  } catch {
    return undefined
  }
}
