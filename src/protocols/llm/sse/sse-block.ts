import { decodeText } from '../json/native.ts'
import { readsAt } from '../json/reads-at.ts'

const LF = 0x0a
const CR = 0x0d
const SPACE = 0x20
const NONE = new Uint8Array(0)

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
  /** Several data lines; the text between `dataStart` and `dataEnd` has line ends and field names. */
  #isSplit = false

  read(bytes: Uint8Array, start: number, end: number): this {
    this.bytes = bytes
    this.nameStart = this.nameEnd = 0
    this.dataStart = -1
    this.#isSplit = false
    // A stream may begin with a byte order mark.
    let line = readsAt(bytes, start, '\xef\xbb\xbf') ? start + 3 : start
    while (line < end) {
      let lineEnd = line
      while (lineEnd < end && bytes[lineEnd] !== LF && bytes[lineEnd] !== CR) lineEnd++
      this.#readLine(line, lineEnd)
      line = lineEnd + 1
    }
    return this
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

  #readLine(start: number, end: number): void {
    if (readsAt(this.bytes, start, 'data') && endsField(this.bytes, start + 4, end)) {
      if (this.dataStart >= 0) this.#isSplit = true
      else this.dataStart = valueStart(this.bytes, start + 4, end)
      this.dataEnd = end
    } else if (readsAt(this.bytes, start, 'event') && endsField(this.bytes, start + 5, end)) {
      this.nameStart = valueStart(this.bytes, start + 5, end)
      this.nameEnd = end
    }
  }
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
    let lineEnd = line
    while (lineEnd < end && bytes[lineEnd] !== LF && bytes[lineEnd] !== CR) lineEnd++
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
