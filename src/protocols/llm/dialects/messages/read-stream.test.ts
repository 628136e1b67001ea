import fc from 'fast-check'
import { expect, test } from 'vitest'
import { roomFor } from '#net/testing/room-for.ts'
import { AnswerEnd } from '../../chat/answer-end.ts'
import type { AnswerError, AnswerSink } from '../../chat/answer-sink.ts'
import { toldAnswer } from '../../testing.ts'
import { readStream } from './read-stream.ts'

// Whole streams are in `test/llm/messages`.

const encoder = new TextEncoder()
const MAX = 1000

interface Told {
  text: string
  error: AnswerError | undefined
  ends: number
}

function read(pieces: readonly string[], maxEventBytes = MAX): Told {
  const told: Told = { text: '', error: undefined, ends: 0 }
  const ignore = () => {}
  const sink: AnswerSink = {
    start: ignore,
    text: (_, text) => {
      told.text += text
    },
    refusal: ignore,
    thinking: ignore,
    signature: ignore,
    redacted: ignore,
    call: ignore,
    arguments: (_, text) => {
      told.text += text
    },
    citation: ignore,
    close: ignore,
    finish: ignore,
    usage: ignore,
    fail: (error) => {
      told.error = error
    },
    end: () => {
      told.ends++
    },
  }
  const end = new AnswerEnd(sink, { claim: undefined, maxKept: 0 })
  const reader = readStream(end, { maxEventBytes, claim: roomFor(2 ** 20).claim })
  for (const piece of pieces) reader.push(encoder.encode(piece))
  reader.finish()
  end.end()
  return told
}

const event = (data: unknown) => `data: ${JSON.stringify(data)}\n\n`
const delta = (text: string) => event({ type: 'content_block_delta', index: 0, delta: { type: 'text_delta', text } })
const finished = event({ type: 'message_delta', delta: { stop_reason: 'end_turn' } })

test.each<[what: string, sent: string, status: number, message: string]>([
  ['with a type', event({ type: 'error', error: { type: 'overloaded_error', message: 'm' } }), 529, 'm'],
  ['without a type', event({ error: { type: 'overloaded_error', message: 'm' } }), 529, 'm'],
  ['that is a text', event({ error: 'm' }), 500, 'm'],
  ['with only a type', event({ type: 'error' }), 500, 'the provider reported an error'],
  ['with only a name', `event: error\n${event({ type: 'rate_limit_error', message: 'm' })}`, 429, 'm'],
])('an error %s ends the stream', (_what, sent, status, message) => {
  const { text, error } = read([delta('a'), sent, delta('b')])
  expect([text, error?.status, error?.message]).toEqual(['a', status, message])
})

test('an unknown event is skipped', () => {
  const { text, error } = read([delta('a'), event({ type: 'new', error: null }), delta('b'), finished])
  expect([text, error]).toEqual(['ab', undefined])
})

test('an event that is not JSON ends the stream', () => {
  const { text, error } = read([delta('a'), 'data: {"type"\n\n', delta('b')])
  expect([text, error?.status, error?.message]).toEqual(['a', 502, 'an event of the stream is not JSON'])
})

test('an event that is too large ends the stream', () => {
  const { text, error } = read([delta('a'), 'data: ', 'x'.repeat(MAX), 'x'.repeat(MAX), delta('b')])
  expect([text, error?.status, error?.message]).toEqual(['a', 502, 'an event of the stream is too large'])
})

test('a finished answer ends well, even if its last event is cut', () => {
  expect(read([delta('a'), finished, 'data: {"type": "message_st'])).toEqual({ text: 'a', error: undefined, ends: 1 })
})

test('a cut event before the end does not hide that the answer is not complete', () => {
  expect(read([delta('a'), 'data: {"type": "content_bl']).error?.message).toBe(
    "the provider's stream ended before the response was complete",
  )
})

test('a last event without an empty line counts', () => {
  expect(read([delta('a'), finished.trimEnd()])).toEqual({ text: 'a', error: undefined, ends: 1 })
})

test('nothing follows the end mark', () => {
  expect(read([finished, event({ type: 'message_stop' }), delta('b'), 'data: {\n\n'])).toMatchObject({
    text: '',
    ends: 1,
  })
})

const TYPES = [
  'message_start',
  'content_block_start',
  'content_block_delta',
  'content_block_stop',
  'message_delta',
  'error',
  'x',
]
const BLOCKS = ['text', 'tool_use', 'thinking', 'server_tool_use', 'text_delta', 'input_json_delta', 'citations_delta']

test('no stream crashes the reader, and each has one end', () => {
  const part = fc.record(
    {
      type: fc.constantFrom(...BLOCKS),
      text: fc.jsonValue(),
      input: fc.jsonValue(),
      id: fc.jsonValue(),
      citation: fc.jsonValue(),
    },
    { requiredKeys: [] },
  )
  const any = fc.oneof(part, fc.jsonValue())
  const message = fc.record(
    {
      type: fc.constantFrom(...TYPES),
      index: fc.oneof(fc.nat(3), fc.jsonValue()),
      message: any,
      content_block: any,
      delta: any,
      usage: fc.jsonValue(),
      error: any,
    },
    { requiredKeys: ['type'] },
  )
  const stream = fc.array(fc.oneof(message.map(event), fc.jsonValue().map(event), fc.string()), { maxLength: 12 })
  fc.assert(
    fc.property(stream, (pieces) => {
      expect(read(pieces, 1_000_000).ends).toBe(1)
    }),
  )
})

const text = (index: number | undefined, added: string) => ({
  ...{ type: 'content_block_delta', index },
  delta: { type: 'text_delta', text: added },
})

test.each<[name: string, events: readonly object[], told: readonly unknown[][]]>([
  [
    'texts of blocks with and without a number',
    [text(undefined, 'a'), text(2, 'b')],
    [
      ['text', 0, 'a'],
      ['text', 2, 'b'],
    ],
  ],
  [
    'beginnings without what belongs to them',
    [
      { type: 'message_start', message: {} },
      { type: 'content_block_start', index: 1, content_block: { type: 'redacted_thinking' } },
    ],
    [
      ['start', '', ''],
      ['redacted', 1, ''],
    ],
  ],
  [
    'a text that begins with a citation',
    [
      {
        ...{ type: 'content_block_start', index: 1 },
        content_block: { type: 'text', text: 'a', citations: [{ type: 'web_search_result_location', url: 'u' }] },
      },
    ],
    [
      ['text', 1, 'a'],
      ['citation', 1, expect.objectContaining({ url: 'u' })],
    ],
  ],
  [
    'a refusal with its reason, behind the last block',
    [
      { type: 'content_block_start', index: 4, content_block: { type: 'text' } },
      { type: 'message_delta', delta: { stop_reason: 'refusal', stop_details: { explanation: 'no' } } },
    ],
    [
      ['refusal', 5, 'no'],
      ['finish', 'refusal', undefined],
    ],
  ],
  ['an end without a reason', [{ type: 'message_stop' }], [['finish', 'end'], ['end']]],
  [
    'an end behind its reason',
    [{ type: 'message_delta', delta: { stop_reason: 'max_tokens' } }, { type: 'message_stop' }],
    [['finish', 'length', undefined], ['end']],
  ],
])('%s', (_, events, expected) => {
  const { sink, told } = toldAnswer()
  const reader = readStream(sink, { maxEventBytes: 10_000, claim: roomFor(10_000).claim })
  reader.push(Buffer.from(events.map((each) => `data: ${JSON.stringify(each)}\n\n`).join('')))
  expect(told).toEqual(expected)
})
