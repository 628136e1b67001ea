import { readsAt } from '../json/reads-at.ts'

/** Bits of `searchMembers`. */
export const HAS_USAGE = 1
export const HAS_FINISH = 2
export const HAS_ERROR = 4

const QUOTE = 0x22

/**
 * Searches a block of JSON text for the members `usage`, `error` and `finish` with a value other than null. It scans the bytes once without parsing.
 * It finds members at any depth, so the caller parses the block to be certain.
 * @returns bits `HAS_USAGE`, `HAS_ERROR` and `HAS_FINISH`
 */
export function searchMembers(piece: Uint8Array, start: number, end: number, finish: string): number {
  const first = finish.length === 0 ? -1 : finish.charCodeAt(0)
  let found = 0
  for (let at = start; at < end; at++) {
    if (piece[at] !== QUOTE) continue
    const next = piece[at + 1]
    if (next === 0x75 && isMember(piece, at + 1, end, 'usage')) found |= HAS_USAGE
    else if (next === 0x65 && isMember(piece, at + 1, end, 'error')) found |= HAS_ERROR
    else if (next === first && isMember(piece, at + 1, end, finish)) found |= HAS_FINISH
  }
  return found
}

/** Whether `key`, a quote, a colon and a value other than `null` follow at `at`. */
function isMember(piece: Uint8Array, at: number, end: number, key: string): boolean {
  if (!readsAt(piece, at, key)) return false
  at += key.length
  if (piece[at] !== QUOTE) return false
  at = skipSpace(piece, at + 1, end)
  if (piece[at] !== 0x3a) return false
  at = skipSpace(piece, at + 1, end)
  return at < end && piece[at] !== 0x6e
}

function skipSpace(piece: Uint8Array, at: number, end: number): number {
  while (at < end && (piece[at] === 0x20 || piece[at] === 0x0a || piece[at] === 0x0d || piece[at] === 0x09)) at++
  return at
}
