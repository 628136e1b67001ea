import { endOfString } from './end-of-string.ts'

const QUOTE = 0x22
const BACKSLASH = 0x5c
const COMMA = 0x2c
const COLON = 0x3a
const OPEN_BRACKET = 0x5b
const CLOSE_BRACKET = 0x5d
const OPEN_BRACE = 0x7b
const CLOSE_BRACE = 0x7d

/** Deeper nesting is refused: no provider accepts it, and it could crash other parsers. */
const MAX_DEPTH = 256

/** For shorter distances, examining bytes is faster than the native search. */
const NEAR = 64

/** Kind of every open container, outermost first; used within one call only. */
const open = new Uint8Array(MAX_DEPTH + 1)

const VALUE = 0
const VALUE_OR_END = 1
const KEY = 2
const KEY_OR_END = 3
const AFTER_KEY = 4
const AFTER_VALUE = 5

/** Index of the first byte from `at` on that is not JSON whitespace. */
export function skipSpace(bytes: Uint8Array, at: number): number {
  for (; at < bytes.length; at++) {
    const byte = bytes[at]!
    if (byte > 0x20 || !isSpace(byte)) return at
  }
  return at
}

/**
 * Index after the string whose opening quote is before `at`; `~position` if the string does not end. The contents are not validated
 * (`endOfString`): they do not affect where the string ends.
 */
export function skipString(bytes: Uint8Array, at: number): number {
  const { length } = bytes
  for (;;) {
    const near = Math.min(length, at + NEAR)
    for (; at < near; at++) {
      const byte = bytes[at]
      if (byte === QUOTE) return at + 1
      if (byte === BACKSLASH) at++
    }
    const quote = bytes.indexOf(QUOTE, at)
    if (quote < 0) return ~length
    let escapes = quote
    while (escapes > at && bytes[escapes - 1] === BACKSLASH) escapes--
    if (((quote - escapes) & 1) === 0) return quote + 1
    at = quote + 1
  }
}

/** Index after the JSON value that starts at `at`; `~position` of the first byte that cannot belong to JSON. */
export function skipValue(bytes: Uint8Array, at: number): number {
  const byte = bytes[at]
  if (byte === QUOTE) return endOfString(bytes, at + 1)
  if (byte === OPEN_BRACE || byte === OPEN_BRACKET) return skipContainer(bytes, at)
  return skipScalar(bytes, at)
}

function skipContainer(bytes: Uint8Array, at: number): number {
  let depth = 0
  let state = VALUE
  while (at < bytes.length) {
    const byte = bytes[at]!
    if (byte <= 0x20) {
      if (!isSpace(byte)) return ~at
      at++
    } else if (state === AFTER_VALUE) {
      if (byte === COMMA) state = open[depth] === OPEN_BRACE ? KEY : VALUE
      else if (byte !== open[depth]! + 2) return ~at
      else if (--depth === 0) return at + 1
      at++
    } else if (state === AFTER_KEY) {
      if (byte !== COLON) return ~at
      state = VALUE
      at++
    } else if (state === KEY || state === KEY_OR_END) {
      if (byte === QUOTE) {
        at = endOfString(bytes, at + 1)
        if (at < 0) return at
        state = AFTER_KEY
      } else {
        if (byte !== CLOSE_BRACE || state === KEY) return ~at
        at++
        if (--depth === 0) return at
        state = AFTER_VALUE
      }
    } else if (byte === OPEN_BRACE || byte === OPEN_BRACKET) {
      if (depth === MAX_DEPTH) return ~at
      open[++depth] = byte
      state = byte === OPEN_BRACE ? KEY_OR_END : VALUE_OR_END
      at++
    } else if (byte === CLOSE_BRACKET && state === VALUE_OR_END) {
      at++
      if (--depth === 0) return at
      state = AFTER_VALUE
    } else {
      at = byte === QUOTE ? endOfString(bytes, at + 1) : skipScalar(bytes, at)
      if (at < 0) return at
      state = AFTER_VALUE
    }
  }
  return ~at
}

function isSpace(byte: number): boolean {
  return byte === 0x20 || byte === 0x0a || byte === 0x0d || byte === 0x09
}

function skipScalar(bytes: Uint8Array, at: number): number {
  const byte = bytes[at]
  if (byte === 0x74) return skipWord(bytes, at, 'true')
  if (byte === 0x66) return skipWord(bytes, at, 'false')
  if (byte === 0x6e) return skipWord(bytes, at, 'null')
  return skipNumber(bytes, at)
}

function skipWord(bytes: Uint8Array, at: number, word: string): number {
  for (let i = 0; i < word.length; i++) if (bytes[at + i] !== word.charCodeAt(i)) return ~(at + i)
  return at + word.length
}

/** RFC 8259, 6. */
function skipNumber(bytes: Uint8Array, at: number): number {
  if (bytes[at] === 0x2d) at++
  if (bytes[at] === 0x30) at++
  else at = skipDigits(bytes, at)
  if (at >= 0 && bytes[at] === 0x2e) at = skipDigits(bytes, at + 1)
  if (at >= 0 && (bytes[at]! | 0x20) === 0x65) {
    const sign = bytes[at + 1]
    at = skipDigits(bytes, sign === 0x2b || sign === 0x2d ? at + 2 : at + 1)
  }
  return at
}

/** At least one. */
function skipDigits(bytes: Uint8Array, from: number): number {
  let at = from
  while (bytes[at]! >= 0x30 && bytes[at]! <= 0x39) at++
  return at === from ? ~at : at
}
