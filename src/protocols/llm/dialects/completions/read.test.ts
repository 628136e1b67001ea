import fc from 'fast-check'
import { expect, test } from 'vitest'
import { runAtOnce } from '#base/in-slices.ts'
import { roomFor } from '#net/testing/room-for.ts'
import { AnswerEnd } from '../../chat/answer-end.ts'
import type { AnswerError, AnswerSink } from '../../chat/answer-sink.ts'
import { Losses } from '../../chat/losses.ts'
import { readReportedError } from '../../chat/read-error.ts'
import { TargetNames } from '../../chat/target-names.ts'
import { Untranslatable } from '../../chat/untranslatable.ts'
import { JsonValue, parseDocument } from '../../json/json-document.ts'
import { writeJson } from '../../json/write-json.ts'
import { formatError } from './errors.ts'
import { readAnswer } from './read-answer.ts'
import { readRequest } from './read-request.ts'
import { readStream } from './read-stream.ts'
import { writeRequest } from './write-request.ts'

// Whole requests, answers and streams are in `test/llm/completions`.

const encoder = new TextEncoder()

/** Counts calls, and keeps the last error. */
class Counting implements AnswerSink {
  calls = 0
  ends = 0
  closes = 0
  error: AnswerError | undefined

  start(): void {}
  text(): void {}
  refusal(): void {}
  thinking(): void {}
  signature(): void {}
  redacted(): void {}
  citation(): void {}
  arguments(): void {}
  finish(): void {}
  usage(): void {}
  call(): void {
    this.calls++
  }
  close(): void {
    this.closes++
  }
  fail(error: AnswerError): void {
    this.error = error
  }
  end(): void {
    this.ends++
  }
}

function stream(text: string, maxEventBytes = 1000): Counting {
  const told = new Counting()
  const end = new AnswerEnd(told, { claim: undefined, maxKept: 0 })
  const reader = readStream(end, { maxEventBytes, claim: roomFor(2 ** 20).claim })
  reader.push(encoder.encode(text))
  reader.finish()
  end.end()
  return told
}

function parsed(value: unknown): JsonValue {
  const body = parseDocument(encoder.encode(JSON.stringify(value)))
  if (!(body instanceof JsonValue)) throw new Error('not JSON')
  return body
}

const event = (data: unknown) => `data: ${JSON.stringify(data)}\n\n`
const choice = (delta: object, finish_reason: string | null = null) => ({
  choices: [{ index: 0, delta, finish_reason }],
})

test('an event that is too large ends the stream', () => {
  expect(stream(event(choice({ content: 'x'.repeat(2000) })).slice(0, -2)).error).toMatchObject({
    status: 502,
    message: 'an event of the stream is too large',
  })
})

/** Keeps what is told of the start, the texts and the reason. */
class Telling extends Counting {
  readonly told: unknown[] = []
  override start(...start: unknown[]): void {
    this.told.push(start)
  }
  override text(...text: unknown[]): void {
    this.told.push(text)
  }
  override finish(...reason: unknown[]): void {
    this.told.push(reason[0])
  }
}

test.each<[name: string, events: readonly unknown[], told: readonly unknown[]]>([
  ['without an id and a model', [choice({ content: 'a' }, 'stop')], [['', ''], [0, 'a'], 'end']],
  [
    'with several choices',
    [
      { id: 'c', model: 'm', choices: [{ index: 1, delta: { content: 'b' } }, { delta: { content: 'a' } }] },
      { choices: [{ index: 1, delta: {}, finish_reason: 'length' }] },
      choice({}, 'stop'),
    ],
    [['c', 'm'], [0, 'a'], 'end'],
  ],
  ['without a reason, but with an end mark', [choice({ content: 'a' }), '[DONE]'], [['', ''], [0, 'a'], 'end']],
  ['with a reason and an end mark', [choice({ content: 'a' }, 'length'), '[DONE]'], [['', ''], [0, 'a'], 'length']],
])('a stream %s', (_, events, told) => {
  const sink = new Telling()
  const end = new AnswerEnd(sink, { claim: undefined, maxKept: 0 })
  const reader = readStream(end, { maxEventBytes: 1000, claim: roomFor(2 ** 20).claim })
  reader.push(encoder.encode(events.map((data) => (data === '[DONE]' ? `data: ${data}\n\n` : event(data))).join('')))
  expect([sink.told, sink.error]).toEqual([told, undefined])
})

test('a last event that is cut does not hide a reason to stop', () => {
  expect(stream(`${event(choice({}, 'stop'))}data: {"choi`).error).toBeUndefined()
  expect(stream(event(choice({}, 'stop')).trimEnd()).error).toBeUndefined()
  expect(stream('data: {"choi').error?.message).toBe("the provider's stream ended before the response was complete")
})

test('a name that never comes ends with a call without one, in bounded memory', () => {
  const piece = event(choice({ tool_calls: [{ index: 0, function: { arguments: 'x'.repeat(500) } }] }))
  expect(stream(piece.repeat(200)).calls).toBe(1)
})

test('ten thousand calls after each other are closed one by one', () => {
  const calls = Array.from({ length: 10_000 }, (_, index) => {
    return event(choice({ tool_calls: [{ index, id: `c${index}`, function: { name: 'f', arguments: '{}' } }] }))
  })
  const { calls: count, closes, error } = stream(calls.join('') + event(choice({}, 'stop')), 10_000_000)
  expect([count, closes, error]).toEqual([10_000, 10_000, undefined])
})

test('fifty thousand calls in one event, of which none is complete, are read in linear time', () => {
  const calls = Array.from({ length: 50_000 }, (_, index) => ({ index, function: { name: 'f' } }))
  const { error } = stream(event(choice({ tool_calls: calls })), 10_000_000)
  expect(error).toMatchObject({ message: "the provider's response is too large to be translated" })
})

test.each<[answer: unknown, status: number, message: string, code: string | undefined]>([
  [{ error: { message: 'm', type: 'server_error', code: null } }, 500, 'm', undefined],
  [{ error: { message: 'm', type: 'x', code: 'rate_limit_exceeded' } }, 429, 'm', 'rate_limit_exceeded'],
  [{ error: { message: 'm', code: 402 } }, 402, 'm', undefined],
  [{ error: { message: 'm', code: '503' } }, 503, 'm', '503'],
  [[{ error: { message: 'm', code: 429, status: 'RESOURCE_EXHAUSTED' } }], 429, 'm', 'RESOURCE_EXHAUSTED'],
  [{ error: { message: 'm', status: 'UNAVAILABLE' } }, 503, 'm', 'UNAVAILABLE'],
  [{ error: 'm' }, 500, 'm', undefined],
  [{ error: {} }, 500, 'the provider reported an error', undefined],
  [{ error: { message: 'm', code: 7 } }, 500, 'm', undefined],
])('the error of %j', (answer, status, message, code) => {
  expect(readReportedError(answer)).toMatchObject({ status, message, code })
})

test.each<[error: Partial<AnswerError>, type: string, code: string | null]>([
  [{ status: 400, type: 'invalid_request_error' }, 'invalid_request_error', null],
  [{ status: 400 }, 'invalid_request_error', null],
  [{ status: 401 }, 'authentication_error', null],
  [{ status: 403 }, 'permission_error', null],
  [{ status: 429, type: 'requests', code: 'rate_limit_exceeded' }, 'requests', 'rate_limit_exceeded'],
  [{ status: 529, type: 'overloaded_error' }, 'server_error', 'overloaded_error'],
  [{ status: 404, type: 'ResourceNotFoundException', code: 'c' }, 'invalid_request_error', 'c'],
])('%j as an error of the API', (given, type, code) => {
  const error = { type: undefined, message: 'm', code: undefined, param: undefined, status: 500, ...given }
  expect(JSON.parse(formatError(error))).toEqual({ error: { message: 'm', type, param: null, code } })
})

/** Members that the readers know, with values that they do not expect. */
const NAMES = [
  'choices index delta message content refusal tool_calls function custom name arguments input id finish_reason usage error',
  'annotations url_citation url start_index reasoning_content reasoning_signature extra_content google thought_signature type',
  'text thinking messages model role tools tool_choice image_url file file_data input_audio data format tool_call_id stop',
  'response_format json_schema schema parameters allowed_tools mode stream_options reasoning_effort prompt_tokens code status',
].flatMap((names) => names.split(' '))
const WORDS = [
  'user',
  'assistant',
  'tool',
  'function',
  'text',
  'image_url',
  'data:image/png;base64,AA',
  'auto',
  'stop',
  '',
]

const { value: anything } = fc.letrec((tie) => ({
  value: fc.oneof(
    { maxDepth: 6, withCrossShrink: true },
    fc.constantFrom(...WORDS),
    fc.integer(),
    fc.boolean(),
    fc.constant(null),
    tie('list'),
    tie('object'),
  ),
  list: fc.array(tie('value'), { maxLength: 3 }),
  object: fc.dictionary(fc.constantFrom(...NAMES), tie('value'), { maxKeys: 5 }),
}))

test('nothing that a provider sends crashes a reader', () => {
  fc.assert(
    fc.property(anything, fc.array(anything, { maxLength: 3 }), (value, deltas) => {
      const events = [value, ...deltas.map((delta) => ({ choices: [{ delta }] })), { choices: [value] }]
      expect(stream(events.map(event).join('')).ends).toBe(1)
      for (const answer of [value, { choices: [{ message: value }] }])
        tryTo(() => runAtOnce(readAnswer(parsed(answer), new Counting())))
    }),
    { numRuns: 300 },
  )
})

test('nothing that a client sends crashes the reader or the writer of requests', () => {
  const model = fc.constantFrom('gpt-4o', 'gpt-5.6', 'gemini-3-pro', 'other')
  fc.assert(
    fc.property(model, fc.array(anything, { maxLength: 4 }), anything, (name, messages, value) => {
      const rest = typeof value === 'object' && value !== null && !Array.isArray(value) ? value : { stop: value }
      for (const body of [value, { ...rest, model: name, messages }]) {
        tryTo(() => {
          const losses = new Losses()
          const conversation = runAtOnce(readRequest(parsed(body), losses))
          const written = writeJson(
            runAtOnce(writeRequest(conversation, { names: new TargetNames([]), body: new Uint8Array() }, losses)),
          )
          expect(parseDocument(written)).toBeInstanceOf(JsonValue)
        })
      }
    }),
    { numRuns: 300 },
  )
})

function tryTo(run: () => void): void {
  try {
    run()
  } catch (error) {
    if (!(error instanceof Untranslatable)) throw error
  }
}

test('arguments that a server sends as an object are taken as they are', () => {
  const written: string[] = []
  const sink = Object.assign(new Counting(), { arguments: (_block: number, text: string) => written.push(text) })
  const called = { name: 'f', arguments: { city: 'Rome', days: 2 } }
  const message = { role: 'assistant', tool_calls: [{ id: 'c', type: 'function', function: called }] }
  runAtOnce(readAnswer(parsed({ choices: [{ message, finish_reason: 'tool_calls' }] }), sink))
  expect(written.join('')).toBe('{"city":"Rome","days":2}')
})
