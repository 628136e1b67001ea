import { COPY_BASE, COPY_BYTES, READ_BASE, readBuffer, wireMemory } from '../transport/read-buffer.ts'
import { FIELD_LINES_CODE } from './field-lines-code.ts'

/** What follows the lines that were found. */
export const EMPTY_LINE = 0
export const INCOMPLETE_LINE = 1
export const MALFORMED_LINE = 2
/** Possibly more lines: search again. */
export const UNSEARCHED = 3

/** Layout of the table: entries before the first line, and entries per line. */
const FIRST = 4
const PER_LINE = 4
/** Capacity of the table, in lines. */
const MOST = READ_BASE / (4 * PER_LINE) - 1
/** Bytes copied first: most heads are shorter, and the bytes after them may be much longer. */
const WINDOW = 2048

/** Finds at most `most` lines between two addresses of the memory. @returns the number of lines */
type Find = (at: number, end: number, most: number) => number

const code = new WebAssembly.Module(Uint8Array.fromBase64(FIELD_LINES_CODE))
const find = new WebAssembly.Instance(code, { gatewright: { memory: wireMemory } }).exports.find as Find
const table = new Int32Array(wireMemory.buffer, 0, READ_BASE / 4)
const copy = new Uint8Array(wireMemory.buffer, COPY_BASE, COPY_BYTES)

/** The result of the last search. */
class FieldLines {
  count = 0
  /** Index after the last line. */
  stop = 0
  /** What follows at `stop`. */
  next = EMPTY_LINE
  /** Memory address minus index in `bytes`. */
  #shift = 0

  search(at: number, end: number, shift: number): void {
    this.#shift = shift
    this.count = find(at + shift, end + shift, MOST)
    this.stop = table[0]! - shift
    this.next = table[1]!
  }

  /** Writes the positions of the lines, relative to `start`, to `offsets`: four per line, beginning at line `first`. */
  copyOffsets(start: number, offsets: Int32Array, first: number): void {
    const shift = this.#shift + start
    const end = FIRST + PER_LINE * this.count
    let to = PER_LINE * first
    for (let from = FIRST; from < end; from += PER_LINE, to += PER_LINE) {
      offsets[to] = table[from]! - shift
      offsets[to + 1] = table[from + 1]! - shift
      offsets[to + 2] = table[from + 2]! - shift
      offsets[to + 3] = table[from + 3]! - shift
    }
  }
}

const lines = new FieldLines()

/**
 * Finds the complete field lines at the beginning of `bytes[at, end)` (RFC 9112, 5): a token, a colon, a value without control
 * characters, CR LF; spaces around a value are not part of it. A line may have up to `COPY_BYTES`. WebAssembly (field-lines.wat) examines
 * sixteen bytes at once: socket reads in place, other bytes in a copy. The result object is reused by the next call.
 */
export function findFieldLines(bytes: Uint8Array, at: number, end: number): FieldLines {
  if (bytes === readBuffer) lines.search(at, end, READ_BASE)
  else searchCopy(bytes, at, end)
  return lines
}

function searchCopy(bytes: Uint8Array, at: number, end: number): void {
  for (let window = WINDOW; ; window *= 4) {
    const windowEnd = Math.min(end, at + window, at + COPY_BYTES)
    copy.set(bytes.subarray(at, windowEnd))
    lines.search(at, windowEnd, COPY_BASE - at)
    if (lines.next !== INCOMPLETE_LINE || windowEnd === end) return
    if (lines.count > 0) {
      lines.next = UNSEARCHED
      return
    }
    if (windowEnd === at + COPY_BYTES) return
  }
}
