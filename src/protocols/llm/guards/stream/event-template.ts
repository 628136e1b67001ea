import { skipString } from '#base/json-bytes/skip-value.ts'
import { parseJson } from '#base/parse-json.ts'
import type { JsonValue } from '../../json/json-document.ts'
import { decodeLatin1, decodeText, isUtf8 } from '../../json/native.ts'
import { copyOf } from '../../json/splice.ts'

/**
 * Members of events that neither are texts nor say where texts belong: times, numbers of events, and padding. Their values are numbers, or
 * strings without escapes.
 */
const UNREAD: ReadonlySet<string> = new Set(['created', 'sequence_number', 'obfuscation'])

const QUOTE = 0x22
const BACKSLASH = 0x5c

type Hole = 'text' | 'string' | 'number'

/** The text of an event that fits, and where its JSON string is. */
export interface FittingText {
  readonly start: number
  readonly end: number
  readonly text: string
}

/**
 * A template for events that differ only in their text and in members without meaning, as most events of a stream do. An event that fits it exactly
 * need not be parsed.
 */
export class EventTemplate {
  readonly #holes: readonly Hole[]
  /** The bytes before each hole, and after the last one. */
  readonly #parts: readonly Part[]

  private constructor(holes: readonly Hole[], parts: readonly Part[]) {
    this.#holes = holes
    this.#parts = parts
  }

  /** @param event the parsed `data` @param text of the only text, quotes included */
  static of(data: Uint8Array, event: JsonValue, text: { readonly start: number; readonly end: number }): EventTemplate {
    const holes: { kind: Hole; start: number; end: number }[] = [{ kind: 'text', ...text }]
    for (const [name, { kind, place: start, end }] of event.members) {
      if (!UNREAD.has(name) || (kind !== 'string' && kind !== 'number') || start === text.start) continue
      holes.push({ kind, start, end })
    }
    holes.sort((one, other) => one.start - other.start)
    const copy = copyOf(data)
    let from = 0
    const parts = holes.map(({ start, end }) => {
      const part = partOf(copy.subarray(from, start))
      from = end
      return part
    })
    return new EventTemplate(
      holes.map(({ kind }) => kind),
      [...parts, partOf(copy.subarray(from))],
    )
  }

  /**
   * Reads the data between two positions.
   * @returns the text by positions from `from` on; undefined: the event does not fit
   */
  read(bytes: Uint8Array, from: number, to: number): FittingText | undefined {
    const parts = this.#parts
    const holes = this.#holes
    let at = from
    let start = 0
    let end = 0
    let ofText = 0
    let ofAll = 0
    const view = viewOf(bytes)
    for (let index = 0; index < holes.length; index++) {
      const hole = holes[index]!
      at = endOfPart(view, bytes, at, parts[index]!)
      if (at < 0) return undefined
      const next = hole === 'number' ? endOfNumber(bytes, at) : endOfString(bytes, at)
      if (next < 0) return undefined
      if (hole === 'text') {
        start = at
        end = next
        ofText = contentsOf(bytes, at + 1, next - 1)
        ofAll |= ofText
      } else if (hole === 'string') {
        const contents = contentsOf(bytes, at + 1, next - 1)
        if ((contents & SPECIAL) !== 0) return undefined
        ofAll |= contents
      }
      at = next
    }
    if (endOfPart(view, bytes, at, parts[holes.length]!) !== to) return undefined
    // The parts are valid, because the first event was.
    if ((ofAll & WIDE) !== 0 && !isUtf8(bytes.subarray(from, to))) return undefined
    const text = readString(bytes, start, end, ofText)
    return text === undefined ? undefined : { start: start - from, end: end - from, text }
  }
}

/** Bytes that are compared four at a time, which takes a third of the time. */
interface Part {
  readonly words: Int32Array
  readonly rest: Uint8Array
}

function partOf(bytes: Uint8Array): Part {
  const view = new DataView(bytes.buffer, bytes.byteOffset, bytes.length)
  const words = Int32Array.from({ length: bytes.length >> 2 }, (_, index) => view.getInt32(4 * index, true))
  return { words, rest: bytes.subarray(4 * words.length) }
}

/** A view of the buffer that was read last: most events arrive in the same one. */
let lastView = new DataView<ArrayBufferLike>(new ArrayBuffer(0))

/** The whole memory that the bytes are in. */
function viewOf({ buffer }: Uint8Array): DataView<ArrayBufferLike> {
  if (lastView.buffer !== buffer) lastView = new DataView(buffer)
  return lastView
}

/** @param view of the memory of `bytes` */
function endOfPart(view: DataView<ArrayBufferLike>, bytes: Uint8Array, from: number, { words, rest }: Part): number {
  if (from + 4 * words.length + rest.length > bytes.length) return -1
  let at = from
  for (let i = 0; i < words.length; i++) {
    if (view.getInt32(bytes.byteOffset + at, true) !== words[i]) return -1
    at += 4
  }
  for (let i = 0; i < rest.length; i++) if (bytes[at + i] !== rest[i]) return -1
  return at + rest.length
}

/** -1: it is no string. */
function endOfString(bytes: Uint8Array, at: number): number {
  return bytes[at] === QUOTE ? Math.max(-1, skipString(bytes, at + 1)) : -1
}

/** Of a natural number; -1: it is none. */
function endOfNumber(bytes: Uint8Array, at: number): number {
  let end = at
  while (bytes[end]! >= 0x30 && bytes[end]! <= 0x39) end++
  return end === at || (end > at + 1 && bytes[at] === 0x30) ? -1 : end
}

/** Escapes or control characters. */
const SPECIAL = 1
/** Characters of several bytes. */
const WIDE = 2

function contentsOf(bytes: Uint8Array, start: number, end: number): number {
  let found = 0
  for (let at = start; at < end; at++) {
    const byte = bytes[at]!
    if (byte < 0x20 || byte === BACKSLASH) found |= SPECIAL
    else if (byte >= 0x80) found |= WIDE
  }
  return found
}

/** Undefined: it is no string of JSON. */
function readString(bytes: Uint8Array, start: number, end: number, contents: number): string | undefined {
  if (contents === 0) return decodeLatin1(bytes, start + 1, end - 1)
  if (contents === WIDE) return decodeText(bytes, start + 1, end - 1)
  try {
    return parseJson(decodeText(bytes, start, end)) as string
  } catch {
    return undefined
  }
}
