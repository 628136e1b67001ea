import { charge } from '../budget.ts'
import { CelError, tooLarge } from '../error.ts'
import { define, type Overload } from '../overload.ts'
import { codePointLength, codePointSlice, unitIndex } from '../text.ts'
import type { Result } from '../value.ts'
import { WEIGHTS } from '../weights.ts'
import { formatText } from './format-text.ts'

/** Maximum length of a string that a function creates, in UTF-16 code units. */
export const MAX_TEXT = 16 * 1024 * 1024

const OUT_OF_RANGE = new CelError('range', 'index out of range')

/** Strings: built-in functions, the strings extension, and functions of the gateway. Positions count code points. */
export const TEXT_FUNCTIONS: readonly Overload[] = [
  define('(string).startsWith(string) -> bool', (text: string, prefix: string) => text.startsWith(prefix)),
  define('(string).endsWith(string) -> bool', (text: string, suffix: string) => text.endsWith(suffix)),
  define('(string).contains(string) -> bool', (text: string, part: string) => text.includes(part)),
  define('(string).charAt(int) -> string', charAt),
  define('(string).indexOf(string) -> int', (text: string, part: string) => indexOf(text, part, 0)),
  define('(string).indexOf(string, int) -> int', indexOf),
  define('(string).lastIndexOf(string) -> int', (text: string, part: string) =>
    lastIndexOf(text, part, codePointLength(text)),
  ),
  define('(string).lastIndexOf(string, int) -> int', lastIndexOf),
  define('(string).lowerAscii() -> string', (text: string) =>
    ASCII.test(text) ? text.toLowerCase() : text.replace(/[A-Z]+/g, (run) => run.toLowerCase()),
  ),
  define('(string).upperAscii() -> string', (text: string) =>
    ASCII.test(text) ? text.toUpperCase() : text.replace(/[a-z]+/g, (run) => run.toUpperCase()),
  ),
  define('(string).trim() -> string', trim),
  define('(string).replace(string, string) -> string', (text: string, from: string, to: string) =>
    replace(text, from, to, -1),
  ),
  define('(string).replace(string, string, int) -> string', replace),
  define('(string).split(string) -> list(string)', (text: string, separator: string) => split(text, separator, -1)),
  define('(string).split(string, int) -> list(string)', split),
  define('(string).substring(int) -> string', (text: string, start: number) =>
    substring(text, start, codePointLength(text)),
  ),
  define('(string).substring(int, int) -> string', substring),
  define('(string).reverse() -> string', (text: string) => [...text].reverse().join('')),
  define('(string).format(list(dyn)) -> string', formatText),
  define('(string).stripPrefix(string) -> string', (text: string, prefix: string) =>
    text.startsWith(prefix) ? text.slice(prefix.length) : text,
  ),
  define('(string).stripSuffix(string) -> string', (text: string, suffix: string) =>
    text.endsWith(suffix) ? text.slice(0, text.length - suffix.length) : text,
  ),
  define('(list(string)).join() -> string', (texts: readonly string[]) => join(texts, '')),
  define('(list(string)).join(string) -> string', join),
  define('strings.quote(string) -> string', quote),
]

const ASCII = /^[\0-\x7f]*$/

const SPACE = /\p{White_Space}/u

/** Trims in linear time: a regular expression for trailing space would be quadratic. */
function trim(text: string): string {
  let start = 0
  let end = text.length
  while (start < end && SPACE.test(text[start]!)) start++
  while (end > start && SPACE.test(text[end - 1]!)) end--
  return text.slice(start, end)
}

function charAt(text: string, index: number): Result {
  const length = codePointLength(text)
  if (!(index >= 0 && index <= length)) return OUT_OF_RANGE
  return codePointSlice(text, index, index + 1)
}

function indexOf(text: string, part: string, from: number): Result {
  if (!(from >= 0 && from <= codePointLength(text))) return OUT_OF_RANGE
  const unit = text.indexOf(part, unitIndex(text, from))
  return unit < 0 ? -1 : codePointLength(text.slice(0, unit))
}

function lastIndexOf(text: string, part: string, from: number): Result {
  if (!(from >= 0 && from <= codePointLength(text))) return OUT_OF_RANGE
  const unit = text.lastIndexOf(part, unitIndex(text, from))
  return unit < 0 ? -1 : codePointLength(text.slice(0, unit))
}

function substring(text: string, start: number, end: number): Result {
  const length = codePointLength(text)
  if (!(start >= 0 && start <= length)) return OUT_OF_RANGE
  if (!(end >= 0 && end <= length)) return OUT_OF_RANGE
  if (start > end) return OUT_OF_RANGE
  return codePointSlice(text, start, end)
}

function replace(text: string, from: string, to: string, limit: number | bigint): Result {
  if (limit === 0) return text
  const most = limit < 0 ? Number.POSITIVE_INFINITY : Number(limit) + 1
  const parts = from === '' ? aroundEach(text, most) : partsOf(text, from, most)
  const length = text.length + (parts.length - 1) * (to.length - from.length)
  if (length > MAX_TEXT) return tooLarge()
  charge(length * WEIGHTS.joinedUnit)
  return parts.join(to)
}

function split(text: string, separator: string, limit: number | bigint): Result {
  if (limit === 0) return []
  const most = limit < 0 ? Number.POSITIVE_INFINITY : Number(limit)
  if (separator !== '') return partsOf(text, separator, most)
  return text === '' ? [] : characters(text, most)
}

/** Splits into at most `most` parts; the last one is the rest. */
function partsOf(text: string, separator: string, most: number): string[] {
  const parts: string[] = []
  let start = 0
  while (parts.length + 1 < most) {
    const end = text.indexOf(separator, start)
    if (end < 0) break
    add(parts, text.slice(start, end))
    start = end + separator.length
  }
  add(parts, text.slice(start))
  return parts
}

/** The same for an empty separator: splits into characters. */
function characters(text: string, most: number): string[] {
  const parts: string[] = []
  let start = 0
  while (parts.length + 1 < most && start < text.length) {
    const end = start + (text.codePointAt(start)! > 0xffff ? 2 : 1)
    if (end >= text.length) break
    add(parts, text.slice(start, end))
    start = end
  }
  add(parts, text.slice(start))
  return parts
}

/** Splits into characters, with an empty part at both ends. */
function aroundEach(text: string, most: number): string[] {
  if (text === '') return ['', '']
  const inner = characters(text, most - 1)
  const isWhole = inner.length + 1 < most
  return isWhole ? ['', ...inner, ''] : ['', ...inner]
}

function add(parts: string[], part: string): void {
  charge(WEIGHTS.part)
  parts.push(part)
}

function join(texts: readonly unknown[], separator = ''): Result {
  let length = 0
  for (const text of texts) {
    if (typeof text !== 'string')
      return new CelError('no-such-overload', 'no such overload: join() of a list with non-strings')
    length += text.length + separator.length
  }
  if (length > MAX_TEXT) return tooLarge()
  charge(length * WEIGHTS.joinedUnit)
  return texts.join(separator)
}

const QUOTED: Readonly<Record<string, string>> = {
  '\x07': '\\a',
  '\b': '\\b',
  '\f': '\\f',
  '\n': '\\n',
  '\r': '\\r',
  '\t': '\\t',
  '\v': '\\v',
  '\\': '\\\\',
  '"': '\\"',
}

function quote(text: string): string {
  return `"${text.toWellFormed().replace(/["\\]|[^\P{Cc}]/gu, (char) => QUOTED[char] ?? char)}"`
}
