import { expect, test } from 'vitest'
import { encode } from '../json/splice.ts'
import { pass } from '../testing.ts'

// A provider that speaks the client's dialect answers with a stream instead of a whole answer, or the reverse.

const REQUEST = { model: 'm', messages: [{ role: 'user', content: 'q' }] }

function answered(
  type: 'Completions' | 'Messages' | 'Responses',
  streamed: boolean,
  body: string,
  request: object = REQUEST,
) {
  const contentType = streamed ? 'application/json' : 'text/event-stream'
  const native = { type, streamed, body: encode(JSON.stringify(request)) }
  return pass(body, { type, native, contentType })
}

const event = (value: object, name?: string) =>
  `${name === undefined ? '' : `event: ${name}\n`}data: ${JSON.stringify(value)}\n\n`

const COMPLETION = {
  id: 'c1',
  model: 'm',
  choices: [
    {
      index: 0,
      message: {
        role: 'assistant',
        content: 'Hello.',
        tool_calls: [{ id: 't1', type: 'function', function: { name: 'f', arguments: '{"a":1}' } }],
      },
      finish_reason: 'tool_calls',
    },
  ],
  usage: { prompt_tokens: 3, completion_tokens: 4, total_tokens: 7 },
}

const CHUNKS = [
  { id: 'c1', model: 'm', choices: [{ index: 0, delta: { role: 'assistant', content: 'Hel' } }] },
  { id: 'c1', model: 'm', choices: [{ index: 0, delta: { content: 'lo.' } }] },
  {
    id: 'c1',
    model: 'm',
    choices: [
      { index: 0, delta: { tool_calls: [{ index: 0, id: 't1', function: { name: 'f', arguments: '{"a":1}' } }] } },
    ],
  },
  { id: 'c1', model: 'm', choices: [{ index: 0, delta: {}, finish_reason: 'tool_calls' }] },
  { id: 'c1', model: 'm', choices: [], usage: COMPLETION.usage },
]

test('a stream of chat completions becomes the whole answer that the client asked for', () => {
  const { text, facts, exchange } = answered(
    'Completions',
    false,
    `${CHUNKS.map((each) => event(each)).join('')}data: [DONE]\n\n`,
  )
  expect(JSON.parse(text)).toMatchObject(COMPLETION)
  expect(exchange.response!.joined('content-type')).toMatch(/^application\/json/)
  expect(facts).toMatchObject({ inputTokens: 3, outputTokens: 4, finishReasons: ['tool_calls'], responseId: 'c1' })
})

test('a whole chat completion becomes the stream that the client asked for', () => {
  const { text, facts, exchange } = answered('Completions', true, JSON.stringify(COMPLETION))
  const chunks = [...text.matchAll(/^data: (\{.*)$/gm)].map(([, data]) => JSON.parse(data!).choices[0])
  expect(chunks.map((choice) => choice?.delta?.content ?? '').join('')).toBe('Hello.')
  expect(chunks.flatMap((choice) => choice?.delta?.tool_calls ?? [])[0]).toMatchObject({ id: 't1' })
  expect(text).toMatch(/data: \[DONE\]\n\n$/)
  expect(exchange.response!.joined('content-type')).toMatch(/^text\/event-stream/)
  expect(facts).toMatchObject({ inputTokens: 3, outputTokens: 4 })
})

const MESSAGE = {
  id: 'm1',
  type: 'message',
  role: 'assistant',
  model: 'm',
  content: [
    { type: 'thinking', thinking: 'So.', signature: 'c2ln' },
    { type: 'text', text: 'Hello.' },
  ],
  stop_reason: 'end_turn',
  usage: { input_tokens: 3, output_tokens: 4 },
}

test('a whole answer of the messages API becomes a stream, and its thinking keeps its signature', () => {
  const { text } = answered('Messages', true, JSON.stringify(MESSAGE))
  expect(text).toContain('"thinking_delta","thinking":"So."')
  expect(text).toContain('"signature":"c2ln"')
  expect(text).toContain('"text_delta","text":"Hello."')
  expect(text).toMatch(/event: message_stop\n/)
})

test('a stream of the messages API becomes a whole answer', () => {
  const events = [
    { type: 'message_start', message: { ...MESSAGE, content: [], usage: { input_tokens: 3, output_tokens: 1 } } },
    { type: 'content_block_start', index: 0, content_block: { type: 'text', text: '' } },
    { type: 'content_block_delta', index: 0, delta: { type: 'text_delta', text: 'Hello.' } },
    { type: 'content_block_stop', index: 0 },
    { type: 'message_delta', delta: { stop_reason: 'end_turn' }, usage: { output_tokens: 4 } },
    { type: 'message_stop' },
  ]
  const { text } = answered('Messages', false, events.map((each) => event(each, each.type)).join(''))
  expect(JSON.parse(text)).toMatchObject({ ...MESSAGE, content: [MESSAGE.content[1]] })
})

test('the record says that members of such an answer are lost', () => {
  const { facts } = answered('Completions', true, JSON.stringify(COMPLETION))
  expect(facts.translation).toMatchObject({ from: 'completions', to: 'completions' })
  expect(facts.translation!.dropped.join()).toContain('unknown members of the answer')
})

test.each([
  [
    'a stream of the responses API',
    'Responses',
    false,
    event({ type: 'response.created' }),
    'instead of a whole answer',
  ],
  ['a whole answer of the responses API', 'Responses', true, '{"output":[]}', 'instead of a whole answer'],
  ['a stream that breaks off', 'Completions', false, event(CHUNKS[0]!), 'ended before'],
] as const)('%s is refused', (_, type, streamed, body, why) => {
  const { refusal, failure } = answered(type, streamed, body)
  expect(refusal).toMatchObject({ code: 'llm-response-invalid', status: 502 })
  expect(refusal!.body).toContain(why)
  expect(failure).toBeDefined()
})

test.each([true, false])('an answer with the choices that the client asked for is refused: streamed %s', (streamed) => {
  const body = streamed ? JSON.stringify(COMPLETION) : CHUNKS.map((each) => event(each)).join('')
  expect(answered('Completions', streamed, body, { ...REQUEST, n: 2 }).refusal).toMatchObject({ status: 502 })
  expect(answered('Completions', streamed, body, { ...REQUEST, n: 1 }).refusal).toBeUndefined()
})

test('an error in the other form has its status', () => {
  const error = { error: { type: 'rate_limit_error', message: 'Busy.', code: 'rate_limit_exceeded' } }
  const { refusal } = answered('Completions', false, event(error))
  expect(refusal).toMatchObject({ status: 429 })
  expect(refusal!.body).toContain('Busy.')
})
