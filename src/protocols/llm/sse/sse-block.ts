import { skipSpace } from '#base/json-bytes/skip-value.ts'
import { decodeLatin1, decodeText } from '../json/native.ts'
import { readsAt } from '../json/reads-at.ts'

const LF = 0x0a
const QUOTE = 0x22
const NONE = new Uint8Array(0)

/** A member with a value other than null. */
export const HAS_USAGE = 1
/** The member that a format names. */
export const HAS_FINISH = 2
export const HAS_ERROR = 4

/** The name and the data of a block of an event stream (WHATWG HTML, 9.2.6). One object reads many blocks; it copies nothing. */
export class SseBlock {
  bytes: Uint8Array = NONE
  /** Start and end of the name. */
  nameStart = 0
  nameEnd = 0
  /** Start of the first data line, after `data:`; -1 if there is none. */
  dataStart = -1
  /** End of the last data line. */
  dataEnd = 0
  /**
   * Bits of members that the data may have at any depth: `usage`, `error`, and the one that is searched for. Whoever must be certain parses the
   * data. 0 if nothing is searched for.
   */
  found = 0
  /** It has lines that clients do not read: comments, ids, fields that are not defined. */
  hasOtherLines = false
  /** Several data lines; the text between `dataStart` and `dataEnd` has line ends and field names. */
  #isSplit = false

  /** @param finish a member to search for, beside `usage` and `error`; undefined: no members are searched for */
  read(bytes: Uint8Array, start: number, end: number, finish?: string): this {
    this.bytes = bytes
    this.nameStart = this.nameEnd = 0
    this.dataStart = -1
    this.found = 0
    this.hasOtherLines = false
    this.#isSplit = false
    // Native search in a text takes a third of the time of a look at each byte.
    const text = decodeLatin1(bytes, start, end)
    // A stream may begin with a byte order mark.
    let line = text.startsWith('\xef\xbb\xbf') ? 3 : 0
    let nextReturn = text.indexOf('\r')
    while (line < text.length) {
      const feed = text.indexOf('\n', line)
      let lineEnd = feed < 0 ? text.length : feed
      if (nextReturn >= 0 && nextReturn < line) nextReturn = text.indexOf('\r', line)
      if (nextReturn >= 0 && nextReturn < lineEnd) lineEnd = nextReturn
      this.#readLine(text, line, lineEnd, start)
      line = lineEnd + 1
    }
    if (finish !== undefined && this.dataStart >= 0) this.#search(text, start, finish)
    return this
  }

  #search(text: string, start: number, finish: string): void {
    if (this.#has(text, start, 'usage')) this.found |= HAS_USAGE
    if (this.#has(text, start, 'error')) this.found |= HAS_ERROR
    if (finish !== '' && this.#has(text, start, finish)) this.found |= HAS_FINISH
  }

  /** Whether `key` is a name in the data, with a value other than `null`. Quotes are frequent, so the search begins after that of the name. */
  #has(text: string, start: number, key: string): boolean {
    const end = this.dataEnd - start
    let at = text.indexOf(key, this.dataStart - start)
    for (; at >= 0 && at < end; at = text.indexOf(key, at + key.length)) {
      const after = at + key.length
      if (text.charCodeAt(after) !== QUOTE || text.charCodeAt(at - 1) !== QUOTE) continue
      if (hasValue(this.bytes, start + after + 1, this.dataEnd)) return true
    }
    return false
  }

  /** Empty if the block has no event line. */
  get name(): string {
    return decodeText(this.bytes, this.nameStart, this.nameEnd)
  }

  isNamed(name: string): boolean {
    return this.nameEnd - this.nameStart === name.length && readsAt(this.bytes, this.nameStart, name)
  }

  /** The data lines, joined by line feeds; shares the memory of the block if there is one. */
  get data(): Uint8Array {
    const { bytes, dataStart, dataEnd } = this
    if (dataStart < 0) return NONE
    return this.#isSplit ? joinLines(bytes, dataStart, dataEnd) : bytes.subarray(dataStart, dataEnd)
  }

  /** Several data lines. */
  get isSplit(): boolean {
    return this.#isSplit
  }

  /** @param base the position of the text in the bytes */
  #readLine(text: string, start: number, end: number, base: number): void {
    if (text.startsWith('data', start) && endsField(text, start + 4, end)) {
      if (this.dataStart >= 0) this.#isSplit = true
      else this.dataStart = base + valueStart(text, start + 4, end)
      this.dataEnd = base + end
    } else if (text.startsWith('event', start) && endsField(text, start + 5, end)) {
      this.nameStart = base + valueStart(text, start + 5, end)
      this.nameEnd = base + end
    } else if (end > start) this.hasOtherLines = true
  }
}

/** Whether a colon and a value other than `null` follow at `at`. */
function hasValue(bytes: Uint8Array, at: number, end: number): boolean {
  const colon = skipSpace(bytes, at)
  if (bytes[colon] !== 0x3a) return false
  const value = skipSpace(bytes, colon + 1)
  return value < end && bytes[value] !== 0x6e
}

/** Whether a field name ends at `at`: before a colon or, without a value, at the end of the line. */
function endsField(text: string, at: number, lineEnd: number): boolean {
  return at === lineEnd || (at < lineEnd && text[at] === ':')
}

function valueStart(text: string, colon: number, lineEnd: number): number {
  if (colon === lineEnd) return lineEnd
  return colon + 1 < lineEnd && text[colon + 1] === ' ' ? colon + 2 : colon + 1
}

/** @param start after the name of the first data line */
function joinLines(bytes: Uint8Array, start: number, end: number): Uint8Array {
  const text = decodeLatin1(bytes, start, end)
  const joined = new Uint8Array(end - start)
  let length = 0
  for (let line = 0; line < text.length; line++) {
    const lineEnd = endOfLine(text, line)
    const isData = line === 0 || (text.startsWith('data', line) && endsField(text, line + 4, lineEnd))
    if (isData) {
      if (line > 0) joined[length++] = LF
      const value = bytes.subarray(start + (line === 0 ? 0 : valueStart(text, line + 4, lineEnd)), start + lineEnd)
      joined.set(value, length)
      length += value.length
    }
    line = lineEnd
  }
  return joined.subarray(0, length)
}

function endOfLine(text: string, line: number): number {
  while (line < text.length && text[line] !== '\n' && text[line] !== '\r') line++
  return line
}
