import { CelError, TOO_LARGE } from '../error.ts'
import { define, type Overload } from '../overload.ts'
import { codePointLength, codePointSlice, unitIndex } from '../text.ts'
import type { Result } from '../value.ts'
import { formatText } from './format-text.ts'

/** Longest string a function may build, in UTF-16 code units. */
export const MAX_TEXT = 16 * 1024 * 1024

/** Longest list that `split` may return. */
const MAX_PARTS = 100_000

const outOfRange = (index: number | bigint): CelError => new CelError('range', `index out of range: ${index}`)

/** Strings: what the language has built in, the strings extension, and the gateway's own. Positions count code points. */
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
  define('(string).lowerAscii() -> string', (text: string) => text.replace(/[A-Z]+/g, (run) => run.toLowerCase())),
  define('(string).upperAscii() -> string', (text: string) => text.replace(/[a-z]+/g, (run) => run.toUpperCase())),
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

const SPACE = /\p{White_Space}/u

/** From both ends by hand: a regular expression for trailing space would be quadratic. */
function trim(text: string): string {
  let start = 0
  let end = text.length
  while (start < end && SPACE.test(text[start]!)) start++
  while (end > start && SPACE.test(text[end - 1]!)) end--
  return text.slice(start, end)
}

function charAt(text: string, index: number): Result {
  const length = codePointLength(text)
  if (!(index >= 0 && index <= length)) return outOfRange(index)
  return codePointSlice(text, index, index + 1)
}

function indexOf(text: string, part: string, from: number): Result {
  if (!(from >= 0 && from <= codePointLength(text))) return outOfRange(from)
  const unit = text.indexOf(part, unitIndex(text, from))
  return unit < 0 ? -1 : codePointLength(text.slice(0, unit))
}

function lastIndexOf(text: string, part: string, from: number): Result {
  if (!(from >= 0 && from <= codePointLength(text))) return outOfRange(from)
  const unit = text.lastIndexOf(part, unitIndex(text, from))
  return unit < 0 ? -1 : codePointLength(text.slice(0, unit))
}

function substring(text: string, start: number, end: number): Result {
  const length = codePointLength(text)
  if (!(start >= 0 && start <= length)) return outOfRange(start)
  if (!(end >= 0 && end <= length)) return outOfRange(end)
  if (start > end) return new CelError('range', `invalid substring range. start: ${start}, end: ${end}`)
  return codePointSlice(text, start, end)
}

function replace(text: string, from: string, to: string, limit: number | bigint): Result {
  if (limit === 0) return text
  const parts = from === '' ? ['', ...text, ''] : text.split(from)
  const count = limit < 0 ? parts.length - 1 : Math.min(Number(limit), parts.length - 1)
  if (text.length + count * Math.max(0, to.length - from.length) > MAX_TEXT) return TOO_LARGE
  const rest = parts.slice(count).join(from)
  return [...parts.slice(0, count), rest].join(to)
}

function split(text: string, separator: string, limit: number | bigint): Result {
  if (limit === 0) return []
  if (separator === '' && text.length > MAX_PARTS) return TOO_LARGE
  const parts = separator === '' ? [...text] : text.split(separator)
  if (parts.length > MAX_PARTS) return TOO_LARGE
  if (limit < 0 || parts.length <= limit) return parts
  const head = parts.slice(0, Number(limit) - 1)
  return [...head, parts.slice(head.length).join(separator)]
}

function join(texts: readonly unknown[], separator = ''): Result {
  let length = 0
  for (const text of texts) {
    if (typeof text !== 'string')
      return new CelError('no-such-overload', 'no such overload: join() of a list with non-strings')
    length += text.length + separator.length
  }
  return length > MAX_TEXT ? TOO_LARGE : texts.join(separator)
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
