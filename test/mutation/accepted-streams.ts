import type { Accepted } from './accepted.ts'

type Change = readonly [line: string, original: string, replacement: string]

const entriesOf = (file: string, reason: string, changes: readonly Change[]): readonly Accepted[] =>
  changes.map(([line, original, replacement]) => ({
    file: `protocols/llm/${file}.ts`,
    line,
    original,
    replacement,
    reason,
  }))

const AGAIN = "if (nextReturn >= 0 && nextReturn < line) nextReturn = text.indexOf('\\r', line)"
const HAS = 'for (; at >= 0 && at < end; at = text.indexOf(key, at + key.length)) {'
const SEARCHES = 'if (finish !== undefined && this.dataStart >= 0) this.#search(text, start, finish)'
const VALUE = "return colon + 1 < lineEnd && text[colon + 1] === ' ' ? colon + 2 : colon + 1"
const FIELD = 'if (this.#field.length < 6) this.#field += String.fromCharCode(byte)'

/** In the readers of streams. */
export const ACCEPTED_STREAMS: readonly Accepted[] = [
  ...entriesOf('sse/sse-block', 'never used: it is set when a block is read', [
    ['nameStart = 0', '0', '(0 + 1)'],
    ['nameEnd = 0', '0', '(0 + 1)'],
    ['dataStart = -1', '1', '(1 + 1)'],
    ['dataEnd = 0', '0', '(0 + 1)'],
    ['found = 0', '0', '(0 + 1)'],
    ['hasOtherLines = false', 'false', 'true'],
    ['#isSplit = false', 'false', 'true'],
  ]),
  ...entriesOf('sse/sse-block', 'the same program: a name that ends where it starts is none, and no place is below 0', [
    ['this.nameStart = this.nameEnd = 0', '0', '(0 + 1)'],
    ['this.dataStart = -1', '1', '(1 + 1)'],
  ]),
  ...entriesOf('sse/sse-block', 'the same program: the line behind the last line end is empty', [
    ['while (line < text.length) {', '<', '<='],
    ['for (let line = 0; line < text.length; line++) {', '<', '<='],
  ]),
  ...entriesOf('sse/sse-block', 'only speed: the same line end is searched for again', [
    [AGAIN, 'nextReturn >= 0 && nextReturn < line', 'true'],
    [AGAIN, 'nextReturn >= 0 && nextReturn < line', '((nextReturn >= 0) || (nextReturn < line))'],
    [AGAIN, '<', '<='],
  ]),
  ...entriesOf('sse/sse-block', 'the same program: no character ends a line in two ways', [
    ['if (nextReturn >= 0 && nextReturn < lineEnd) lineEnd = nextReturn', '<', '<='],
  ]),
  ...entriesOf('sse/sse-block', 'the same program: data begins behind the name of its field', [
    [SEARCHES, '>=', '>'],
    [SEARCHES, '0', '(0 + 1)'],
    [HAS, '>=', '>'],
    [HAS, '0', '(0 + 1)'],
    ['if (dataStart < 0) return NONE', '<', '<='],
    ['if (dataStart < 0) return NONE', '0', '(0 + 1)'],
    ['if (this.dataStart >= 0) this.#isSplit = true', '>=', '>'],
    ['if (this.dataStart >= 0) this.#isSplit = true', '0', '(0 + 1)'],
  ]),
  ...entriesOf('sse/sse-block', 'only speed: a value behind the data counts as none', [
    ['const end = this.dataEnd - start', '-', '+'],
    [HAS, '<', '<='],
  ]),
  ...entriesOf('sse/sse-block', 'only speed, and memory: one line is joined to itself', [
    [
      'return this.#isSplit ? joinLines(bytes, dataStart, dataEnd) : bytes.subarray(dataStart, dataEnd)',
      'this.#isSplit',
      'true',
    ],
    ['const joined = new Uint8Array(end - start)', '-', '+'],
  ]),
  ...entriesOf('sse/sse-block', 'the same program: the end of a line is neither a colon nor a space', [
    ["return at === lineEnd || (at < lineEnd && text[at] === ':')", '<', '<='],
    [VALUE, '+', '-'],
    [VALUE, '<', '<='],
  ]),
  ...entriesOf('sse/event-reader', 'only speed: the events of a stream that is over are not read', [
    ['if (!this.#isOver) this.#splitter.push(asBuffer(piece), 0, piece.length)', '!this.#isOver', 'true'],
  ]),
  ...entriesOf('detect/frame-answer', 'only speed: the same bytes are parsed again', [
    ['const event = inner === undefined ? outer : parseValue(json)', 'inner === undefined', 'false'],
  ]),
  ...entriesOf('detect/frame-answer', 'the same program: neither nothing nor a zero is JSON', [
    ['return new Uint8Array(0)', 'new Uint8Array(0)', 'undefined'],
    ['return new Uint8Array(0)', '0', '(0 + 1)'],
  ]),
  ...entriesOf(
    'sse/sse-splitter',
    'the same program: nothing is left of the piece, and a block that ends is not empty',
    [
      ['while (at < piece.length) {', '<', '<='],
      ['if (next < 0) {', '<', '<='],
      ['if (next < 0) {', '0', '(0 + 1)'],
    ],
  ),
  ...entriesOf('sse/long-event', 'only memory: no name with more characters matters', [
    [FIELD, 'this.#field.length < 6', 'true'],
    [FIELD, '<', '<='],
    [FIELD, '6', '(6 + 1)'],
  ]),
  ...entriesOf('sse/long-event', 'the same program: in each other state, a value is not read', [
    ["} else this.#state = 'skipped'", "'skipped'", "''"],
  ]),
]
