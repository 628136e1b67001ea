import { expect, test } from 'vitest'
import { formatSse, type SseEvent, SseEventTooLarge, SseParser } from './sse.ts'

const plain = (data: string): SseEvent => ({ event: '', data, id: undefined, retryMs: undefined })

const streams: [name: string, text: string, events: SseEvent[]][] = [
  ['one event', 'data: a\n\n', [plain('a')]],
  ['two lines of data', 'data: a\ndata: b\n\n', [plain('a\nb')]],
  ['line ends CRLF and CR', 'data: a\r\n\r\ndata: b\r\rdata: c\n\n', [plain('a'), plain('b'), plain('c')]],
  ['only one space is taken off', 'data:  a\ndata:b\n\n', [plain(' a\nb')]],
  ['all fields', 'event: ping\nid: 7\nretry: 250\ndata: x\n\n', [{ event: 'ping', data: 'x', id: '7', retryMs: 250 }]],
  ['an id alone', 'id: 7\n\n', [{ event: '', data: '', id: '7', retryMs: undefined }]],
  ['an id with empty data', 'id: 7\ndata:\n\n', [{ event: '', data: '', id: '7', retryMs: undefined }]],
  ['field without colon', 'data\n\n', [plain('')]],
  ['comments and unknown fields', ': hi\nfoo: bar\n\ndata: a\n\n', [plain('a')]],
  ['a retry beyond all times', `retry: ${'9'.repeat(16)}\ndata: a\n\n`, [plain('a')]],
  ['bad retry and id', 'retry: soon\nid: a\0b\ndata: a\n\n', [plain('a')]],
  ['byte order mark', '\uFEFFdata: a\n\n', [plain('a')]],
  ['unfinished block', 'data: a\n\ndata: b\n', [plain('a')]],
  ['text beyond ASCII', 'data: grüße 🌍\n\n', [plain('grüße 🌍')]],
]

for (const [name, text, events] of streams) {
  const bytes = new TextEncoder().encode(text)

  test(`event stream: ${name}`, () => {
    expect(new SseParser().push(bytes)).toEqual(events)
  })

  test(`event stream, byte by byte: ${name}`, () => {
    const parser = new SseParser()
    expect(Array.from(bytes).flatMap((byte) => parser.push(Uint8Array.of(byte)))).toEqual(events)
    expect(parser.held === 0).toBe(name !== 'unfinished block')
  })
}

test('written events can be read back', () => {
  const events = [plain('a\nb\n\nc'), { event: 'message', data: '{}', id: '1', retryMs: 5 }, plain('')]
  const text = events.map(formatSse).join('')
  expect(new SseParser().push(new TextEncoder().encode(text))).toEqual(events)
})

test('events have a limit, also unfinished ones', () => {
  const bytes = new TextEncoder().encode('data: 0123456789\n')
  const parser = new SseParser(25)
  parser.push(bytes)
  expect(() => parser.push(bytes).concat(parser.push(bytes))).toThrow(SseEventTooLarge)
  expect(() => new SseParser(10).push(bytes.subarray(0, 16))).toThrow(SseEventTooLarge)
})

/** Counts how many characters native searches look through. */
function countSearched(work: () => void): number {
  const { indexOf } = String.prototype
  let searched = 0
  String.prototype.indexOf = function (this: string, wanted: string, from = 0) {
    const at = indexOf.call(this, wanted, from)
    searched += (at < 0 ? this.length : at + 1) - from
    return at
  }
  try {
    work()
  } finally {
    String.prototype.indexOf = indexOf
  }
  return searched
}

test.each([
  ['CR', 'data:x\r'],
  ['CR and a LF at the end', 'data:x\r', '\n'],
  ['LF', 'data:x\n'],
  ['CRLF', 'data:x\r\n'],
  ['LF, and CR far away', 'data:x\n', '\r'],
  ['empty lines of data, by CR', 'data\r'],
  ['empty events, by CR', '\r'],
])('a stream with lines that end in %s is read in time that grows with it', (_, line, last = '') => {
  const bytes = new TextEncoder().encode(line.repeat(10_000) + last)
  expect(countSearched(() => new SseParser().push(bytes))).toBeLessThan(4 * bytes.length)
})
