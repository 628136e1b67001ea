import fc from 'fast-check'
import { expect, test } from 'vitest'
import { encodeEvent } from '#net/event-stream/event-frame.ts'
import { encodeHeaders } from '#net/event-stream/event-header.ts'
import { roomFor } from '#net/testing/room-for.ts'
import { AnswerEnd } from '../../chat/answer-end.ts'
import type { AnswerError, AnswerSink } from '../../chat/answer-sink.ts'
import { toldAnswer } from '../../testing.ts'
import { readException, readStream } from './read-stream.ts'

const ignore = (): void => {}

/** What a stream of these frames ends with. */
function ending(
  frames: readonly Uint8Array[],
  maxEventBytes = 10_000,
  memory?: number,
): AnswerError | 'end' | undefined {
  let error: AnswerError | undefined
  let ends = 0
  const sink: AnswerSink = {
    start: ignore,
    text: ignore,
    refusal: ignore,
    thinking: ignore,
    signature: ignore,
    redacted: ignore,
    call: ignore,
    arguments: ignore,
    citation: ignore,
    close: ignore,
    finish: ignore,
    usage: ignore,
    fail: (given) => {
      error = given
    },
    end: () => {
      ends++
    },
  }
  const end = new AnswerEnd(sink, { claim: undefined, maxKept: 0 })
  const reader = readStream(end, { maxEventBytes, claim: roomFor(maxEventBytes, memory).claim })
  for (const frame of frames) reader.push(frame)
  reader.finish()
  end.end()
  expect(ends).toBe(1)
  return error ?? 'end'
}

function frame(headers: Readonly<Record<string, string>>, payload: string): Uint8Array {
  const given = Object.entries(headers).map(([name, value]) => ({ name, type: 'text' as const, value }))
  return encodeEvent(encodeHeaders(given), Buffer.from(payload))
}
const event = (type: string, payload: string) => frame({ ':message-type': 'event', ':event-type': type }, payload)
const STOP = event('messageStop', '{"stopReason":"end_turn"}')

const TYPES = ['messageStart', 'contentBlockStart', 'contentBlockDelta', 'contentBlockStop', 'messageStop', 'metadata']
const MEMBERS = [
  ...['contentBlockIndex', 'start', 'delta', 'toolUse', 'toolUseId', 'input', 'text', 'reasoningContent', 'signature'],
  ...['redactedContent', 'citation', 'sourceContent', 'location', 'web', 'url', 'usage', 'inputTokens', 'stopReason'],
]
const { json } = fc.letrec((tie) => ({
  json: fc.oneof(
    { maxDepth: 4 },
    fc.constantFrom(null, true, 0, -1, 1e300, '', 'x', '__proto__'),
    fc.array(tie('json'), { maxLength: 3 }),
    fc.dictionary(fc.constantFrom(...MEMBERS), tie('json'), { maxKeys: 4 }),
  ),
}))

test('whatever the members of events are, the answer ends', () => {
  const events = fc.array(fc.tuple(fc.constantFrom(...TYPES), json), { maxLength: 8 })
  fc.assert(
    fc.property(events, (given) => {
      ending(given.map(([type, payload]) => event(type, JSON.stringify(payload))))
    }),
    { numRuns: 300 },
  )
})

test('what cannot be read is an error of the provider', () => {
  const error = (message: string) => ({
    ...{ status: 502, type: undefined, message },
    ...{ code: 'llm-response-invalid', param: undefined },
  })
  expect(ending([event('messageStart', '{'), STOP])).toEqual(error('an event of the stream is not JSON'))
  expect(ending([event('metadata', `"${'x'.repeat(20_000)}"`), STOP])).toMatchObject({
    status: 502,
    message: expect.stringContaining('the limit is 10000'),
  })
  const half = event('metadata', '{}').subarray(0, 30)
  expect(ending([half], 10_000, 10)).toMatchObject({ status: 502, message: 'no memory is left for a frame' })
  const exception = frame({ ':message-type': 'exception', ':exception-type': 'internalServerException' }, 'oops')
  expect(ending([exception, STOP])).toMatchObject({ status: 500, type: 'internalServerException' })
})

test('frames that arrive together are read together', () => {
  expect(ending([Buffer.concat([event('messageStart', '{}'), STOP])])).toBe('end')
})

const begin = (contentBlockIndex: number, toolUse: object) =>
  event('contentBlockStart', JSON.stringify({ contentBlockIndex, start: { toolUse } }))
const delta = (contentBlockIndex: number | undefined, added: object) =>
  event('contentBlockDelta', JSON.stringify({ contentBlockIndex, delta: added }))
const stop = (contentBlockIndex: number) => event('contentBlockStop', JSON.stringify({ contentBlockIndex }))
const EXCEPTION = frame({ ':message-type': 'exception', ':exception-type': 'throttlingException' }, '{"message":"m"}')
const THROTTLED = ['fail', expect.objectContaining({ status: 429, message: 'm' })]

test.each<[name: string, pushes: readonly (readonly Uint8Array[])[], told: readonly unknown[][]]>([
  ['a start', [[event('messageStart', '{"role":"assistant"}')]], [['start', '', '']]],
  ['a text without a block', [[delta(undefined, { text: 'a' })]], [['text', 0, 'a']]],
  ['an empty text', [[delta(1, { text: '' })]], []],
  ['a text with a citation', [[delta(1, { text: 'a', citation: { title: 't' } })]], [['text', 1, 'a']]],
  [
    'a call without anything, beside the arguments of another block',
    [[begin(1, {}), delta(2, { toolUse: { input: '1' } }), stop(1)]],
    [
      ['call', 1, '', ''],
      ['arguments', 2, '1'],
      ['arguments', 1, '{}'],
      ['close', 1],
    ],
  ],
  [
    'calls without arguments that overlap',
    [[begin(1, {}), begin(2, {}), begin(3, {}), delta(2, { toolUse: { input: '1' } }), stop(1), stop(3), stop(2)]],
    [
      ...[1, 2, 3].map((block) => ['call', block, '', '']),
      ['arguments', 2, '1'],
      ...[1, 3].flatMap((block) => [
        ['arguments', block, '{}'],
        ['close', block],
      ]),
      ['close', 2],
    ],
  ],
  ['what follows an exception in its piece', [[EXCEPTION, delta(0, { text: 'a' })]], [THROTTLED]],
  ['what follows an exception', [[EXCEPTION], [delta(0, { text: 'a' })]], [THROTTLED]],
])('%s', (_, pushes, expected) => {
  const { sink, told } = toldAnswer()
  const reader = readStream(sink, { maxEventBytes: 10_000, claim: roomFor(10_000).claim })
  for (const frames of pushes) reader.push(Buffer.concat(frames))
  expect(told).toEqual(expected)
})

test('calls that the provider makes itself are left out, also where they overlap with each other and with a call', () => {
  const { sink, told } = toldAnswer()
  const end = new AnswerEnd(sink, { claim: undefined, maxKept: 0 })
  const reader = readStream(end, { maxEventBytes: 10_000, claim: roomFor(10_000).claim })
  const input = (block: number) => delta(block, { toolUse: { input: `${block}` } })
  const hosted = { type: 'server_tool_use', name: 'x' }
  const frames = [
    begin(1, hosted),
    begin(2, {}),
    begin(3, hosted),
    input(1),
    input(2),
    input(3),
    begin(2, hosted),
    input(2),
  ]
  reader.push(Buffer.concat([...frames, stop(1), stop(2), stop(3)]))
  expect(told).toEqual([
    ['start', '', ''],
    ['call', 0, '', ''],
    ['arguments', 0, '2'],
    ['close', 0],
  ])
})

// The reference of ConverseStream, "Errors".
test.each([
  ['accessDeniedException', 403],
  ['conflictException', 400],
  ['internalServerException', 500],
  ['modelErrorException', 424],
  ['modelNotReadyException', 429],
  ['modelStreamErrorException', 424],
  ['modelTimeoutException', 408],
  ['resourceNotFoundException', 404],
  ['serviceQuotaExceededException', 400],
  ['serviceUnavailableException', 503],
  ['ThrottlingException', 429],
  ['validationException', 400],
  ['constructor', 500],
  [undefined, 500],
])('%s has status %i', (name, status) => {
  expect(readException(name, { message: 'm' })).toMatchObject({ status, message: 'm' })
})

test('an exception without a message', () => {
  expect([readException('ValidationException', {}).message, readException(undefined, null).message]).toEqual([
    'the provider reported validationException',
    'the provider reported an error',
  ])
})
