import { isEscaped, isSpace, skipSpace, skipValue } from './skip-json.ts'

const QUOTE = 0x22
const COMMA = 0x2c
const COLON = 0x3a
const OPEN_BRACKET = 0x5b
const BACKSLASH = 0x5c
const CLOSE_BRACKET = 0x5d
const LETTER_F = 0x66
const LETTER_N = 0x6e
const LETTER_T = 0x74
const OPEN_BRACE = 0x7b
const CLOSE_BRACE = 0x7d

/**
 * Parses JSON like `JSON.parse`, which nothing else may call: in V8 it can read a key with an escape as another key, depending on what
 * was parsed before (decision 0231). Texts with such keys are read again here.
 *
 * @param readNumber makes the value of a number of its text, if not the nearest double; takes more time
 * @throws SyntaxError
 */
export function parseJson(text: string, readNumber?: (text: string) => unknown): unknown {
  const value: unknown = JSON.parse(text)
  return readNumber === undefined && !hasEscapedKey(text) ? value : readWellFormed(text, readNumber ?? Number)
}

/**
 * Whether some key has an escape, so that parsing is slow. The text must be well-formed.
 *
 * A key ends before a colon, with a quote that is not escaped. Values have many quotes and escapes, but few colons: so only the colons
 * after escapes are examined.
 */
export function hasEscapedKey(text: string): boolean {
  // Most texts with one value are strings, some of them long.
  let backslash = text.charCodeAt(0) === QUOTE ? -1 : text.indexOf('\\')
  while (backslash >= 0) {
    const colon = findColonOfKey(text, backslash)
    if (colon < 0) return false
    if (isEscapedBefore(text, skipSpaceBack(text, colon - 1))) return true
    backslash = text.indexOf('\\', colon)
  }
  return false
}

/** The next colon after a quote that is not escaped: the end of a key, or the beginning of a string that begins with a colon. */
function findColonOfKey(text: string, from: number): number {
  let colon = text.indexOf(':', from)
  while (colon >= 0) {
    // Most colons in texts follow a letter.
    if (text.charCodeAt(colon - 1) <= QUOTE) {
      const quote = skipSpaceBack(text, colon - 1)
      if (text.charCodeAt(quote) === QUOTE && !isEscaped(text, quote)) break
    }
    colon = text.indexOf(':', colon + 1)
  }
  return colon
}

function skipSpaceBack(text: string, at: number): number {
  while (isSpace(text.charCodeAt(at))) at--
  return at
}

/** Whether there is an escape between a quote and the one before it. */
function isEscapedBefore(text: string, quote: number): boolean {
  for (let at = quote - 1; at >= 0; at--) {
    const char = text.charCodeAt(at)
    if (char === BACKSLASH) return true
    if (char === QUOTE) return isEscaped(text, at)
  }
  return false
}

type Container = unknown[] | Record<string, unknown>

/** Reads JSON that `JSON.parse` accepts. Without recursion, because nesting may be deep. */
function readWellFormed(text: string, readNumber: (text: string) => unknown): unknown {
  const root: unknown[] = []
  /** The containers around `inside`, outermost first. */
  const outer: Container[] = []
  let inside: Container = root
  /** The key of the next value, if it was read. */
  let key: string | undefined
  for (let at = skipSpace(text, 0); at < text.length; at = skipSpace(text, at)) {
    const char = text.charCodeAt(at)
    if (char === COMMA || char === COLON) {
      at++
    } else if (char === CLOSE_BRACE || char === CLOSE_BRACKET) {
      inside = outer.pop()!
      at++
    } else if (char === OPEN_BRACE || char === OPEN_BRACKET) {
      const container = char === OPEN_BRACE ? {} : []
      put(inside, key, container)
      outer.push(inside)
      inside = container
      key = undefined
      at++
    } else {
      const end = skipValue(text, at)
      const value = readScalar(text.slice(at, end), char, readNumber)
      if (key === undefined && !Array.isArray(inside)) {
        key = value as string
      } else {
        put(inside, key, value)
        key = undefined
      }
      at = end
    }
  }
  return root[0]
}

/** Adds a value. Of equal keys the last value counts, at the place of the first. */
function put(container: Container, key: string | undefined, value: unknown): void {
  if (Array.isArray(container)) container.push(value)
  else if (key === '__proto__') {
    Object.defineProperty(container, key, { value, writable: true, enumerable: true, configurable: true })
  } else container[key!] = value
}

function readScalar(text: string, first: number, readNumber: (text: string) => unknown): unknown {
  switch (first) {
    case QUOTE:
      // Strings outside of objects are always read correctly.
      return JSON.parse(text)
    case LETTER_T:
      return true
    case LETTER_F:
      return false
    case LETTER_N:
      return null
    default:
      return readNumber(text)
  }
}
