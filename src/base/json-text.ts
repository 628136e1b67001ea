import { parseJson } from './parse-json.ts'
import { skipSpace, skipString } from './skip-json.ts'

/*
 * Finds positions in a JSON text without building values. Invalid JSON is detected only where the scan depends on it; it then returns -1.
 * All functions take linear time.
 */

const QUOTE = 0x22
const COMMA = 0x2c
const COLON = 0x3a
const OPEN_BRACKET = 0x5b
const CLOSE_BRACKET = 0x5d
const OPEN_BRACE = 0x7b
const CLOSE_BRACE = 0x7d

/**
 * Visits the members of the object that starts at `at`, including duplicates.
 * @param visit gets the key, the start of the value, and that of the key; returns the end of the value (`skipValue`), so that nothing is
 * scanned twice
 * @returns the index after the object; -1 if there is no complete object
 */
export function walkMembers(
  text: string,
  at: number,
  visit: (key: string, start: number, keyStart: number) => number,
): number {
  if (text.charCodeAt(at) !== OPEN_BRACE) return -1
  at = skipSpace(text, at + 1)
  if (text.charCodeAt(at) === CLOSE_BRACE) return at + 1
  for (;;) {
    const keyEnd = text.charCodeAt(at) === QUOTE ? skipString(text, at) : -1
    const colon = keyEnd < 0 ? -1 : skipSpace(text, keyEnd)
    if (colon < 0 || text.charCodeAt(colon) !== COLON) return -1
    const end = visit(decodeKey(text.slice(at + 1, keyEnd - 1)), skipSpace(text, colon + 1), at)
    if (end < 0) return -1
    at = skipSpace(text, end)
    if (text.charCodeAt(at) === CLOSE_BRACE) return at + 1
    if (text.charCodeAt(at) !== COMMA) return -1
    at = skipSpace(text, at + 1)
  }
}

/** The same for the elements of an array. */
export function walkElements(text: string, at: number, visit: (start: number) => number): number {
  if (text.charCodeAt(at) !== OPEN_BRACKET) return -1
  at = skipSpace(text, at + 1)
  if (text.charCodeAt(at) === CLOSE_BRACKET) return at + 1
  for (;;) {
    const end = visit(at)
    if (end < 0) return -1
    at = skipSpace(text, end)
    if (text.charCodeAt(at) === CLOSE_BRACKET) return at + 1
    if (text.charCodeAt(at) !== COMMA) return -1
    at = skipSpace(text, at + 1)
  }
}

/** A key with invalid escapes is used as it is. */
function decodeKey(literal: string): string {
  if (!literal.includes('\\')) return literal
  try {
    return parseJson(`"${literal}"`) as string
  } catch {
    return literal
  }
}
