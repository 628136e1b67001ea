/** Positions in JSON texts. Invalid JSON is detected only where the search depends on it; the result is then -1. */

const QUOTE = 0x22
const COMMA = 0x2c
const OPEN_BRACKET = 0x5b
const BACKSLASH = 0x5c
const CLOSE_BRACKET = 0x5d
const OPEN_BRACE = 0x7b
const CLOSE_BRACE = 0x7d

/** Index of the first character from `at` on that is not JSON whitespace. */
export function skipSpace(text: string, at: number): number {
  while (isSpace(text.charCodeAt(at))) at++
  return at
}

export function isSpace(char: number): boolean {
  return char === 0x20 || char === 0x0a || char === 0x0d || char === 0x09
}

/** Index after the string whose opening quote is at `at`. */
export function skipString(text: string, at: number): number {
  for (let quote = text.indexOf('"', at + 1); quote >= 0; quote = text.indexOf('"', quote + 1)) {
    if (!isEscaped(text, quote)) return quote + 1
  }
  return -1
}

/** Whether there is an odd number of backslashes before `at`, within a string. */
export function isEscaped(text: string, at: number): boolean {
  let escapes = at
  while (text.charCodeAt(escapes - 1) === BACKSLASH) escapes--
  return ((at - escapes) & 1) === 1
}

/** Index after the value that starts at `at`. */
export function skipValue(text: string, at: number): number {
  const char = text.charCodeAt(at)
  if (char === QUOTE) return skipString(text, at)
  if (char === OPEN_BRACE || char === OPEN_BRACKET) return skipContainer(text, at)
  let end = at
  while (end < text.length && !endsScalar(text.charCodeAt(end))) end++
  return end === at ? -1 : end
}

function skipContainer(text: string, at: number): number {
  let depth = 0
  while (at >= 0 && at < text.length) {
    const char = text.charCodeAt(at)
    if (char === QUOTE) {
      at = skipString(text, at)
      continue
    }
    at++
    if (char === OPEN_BRACE || char === OPEN_BRACKET) depth++
    else if ((char === CLOSE_BRACE || char === CLOSE_BRACKET) && --depth === 0) return at
  }
  return -1
}

function endsScalar(char: number): boolean {
  return char === COMMA || char === CLOSE_BRACE || char === CLOSE_BRACKET || isSpace(char)
}

/** Whether more than `max` containers are nested in a well-formed text. */
export function nestsDeeper(text: string, max: number): boolean {
  // Each of them has an opening and a closing bracket.
  if (text.length <= 2 * max) return false
  let depth = 0
  for (let at = 0; at < text.length; ) {
    const char = text.charCodeAt(at)
    if (char === QUOTE) {
      at = skipString(text, at)
      continue
    }
    at++
    if (char === OPEN_BRACE || char === OPEN_BRACKET) {
      if (++depth > max) return true
    } else if (char === CLOSE_BRACE || char === CLOSE_BRACKET) depth--
  }
  return false
}
