import { decodeText } from '../json/native.ts'
import { readsAt } from '../json/reads-at.ts'
import { skipSpace } from '../json/skip-value.ts'

const LF = 0x0a
const CR = 0x0d
const SPACE = 0x20
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
    // A stream may begin with a byte order mark.
    let line = readsAt(bytes, start, '\xef\xbb\xbf') ? start + 3 : start
    while (line < end) {
      const isSearched = finish !== undefined && bytes[line] === 0x64
      const lineEnd = isSearched ? this.#searchLine(line, end, finish) : endOfLine(bytes, line, end)
      this.#readLine(line, lineEnd)
      line = lineEnd + 1
    }
    return this
  }

  /** Looks at each byte once, for the end of the line and for members. @returns the end of the line */
  #searchLine(line: number, end: number, finish: string): number {
    const { bytes } = this
    const first = finish === '' ? -1 : finish.charCodeAt(0)
    let at = line
    for (; at < end; at++) {
      const byte = bytes[at]!
      if (byte > QUOTE) continue
      if (byte === LF || byte === CR) break
      if (byte !== QUOTE) continue
      const next = bytes[at + 1]
      if (next === 0x75 && isMember(bytes, at + 1, end, 'usage')) this.found |= HAS_USAGE
      else if (next === 0x65 && isMember(bytes, at + 1, end, 'error')) this.found |= HAS_ERROR
      else if (next === first && isMember(bytes, at + 1, end, finish)) this.found |= HAS_FINISH
    }
    return at
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

  #readLine(start: number, end: number): void {
    if (readsAt(this.bytes, start, 'data') && endsField(this.bytes, start + 4, end)) {
      if (this.dataStart >= 0) this.#isSplit = true
      else this.dataStart = valueStart(this.bytes, start + 4, end)
      this.dataEnd = end
    } else if (readsAt(this.bytes, start, 'event') && endsField(this.bytes, start + 5, end)) {
      this.nameStart = valueStart(this.bytes, start + 5, end)
      this.nameEnd = end
    } else if (end > start) this.hasOtherLines = true
  }
}

function endOfLine(bytes: Uint8Array, line: number, end: number): number {
  while (line < end && bytes[line] !== LF && bytes[line] !== CR) line++
  return line
}

/** Whether `key`, a quote, a colon and a value other than `null` follow at `at`. */
function isMember(bytes: Uint8Array, at: number, end: number, key: string): boolean {
  if (!readsAt(bytes, at, key)) return false
  at += key.length
  if (bytes[at] !== QUOTE) return false
  at = skipSpace(bytes, at + 1)
  if (bytes[at] !== 0x3a) return false
  at = skipSpace(bytes, at + 1)
  return at < end && bytes[at] !== 0x6e
}

/** Whether a field name ends at `at`: before a colon or, without a value, at the end of the line. */
function endsField(bytes: Uint8Array, at: number, lineEnd: number): boolean {
  return at === lineEnd || (at < lineEnd && bytes[at] === 0x3a)
}

function valueStart(bytes: Uint8Array, colon: number, lineEnd: number): number {
  if (colon === lineEnd) return lineEnd
  return colon + 1 < lineEnd && bytes[colon + 1] === SPACE ? colon + 2 : colon + 1
}

/** @param start after the name of the first data line */
function joinLines(bytes: Uint8Array, start: number, end: number): Uint8Array {
  const joined = new Uint8Array(end - start)
  let length = 0
  for (let line = start; line < end; line++) {
    const lineEnd = endOfLine(bytes, line, end)
    const isData = line === start || (readsAt(bytes, line, 'data') && endsField(bytes, line + 4, lineEnd))
    if (isData) {
      if (line > start) joined[length++] = LF
      const value = bytes.subarray(line === start ? start : valueStart(bytes, line + 4, lineEnd), lineEnd)
      joined.set(value, length)
      length += value.length
    }
    line = lineEnd
  }
  return joined.subarray(0, length)
}
