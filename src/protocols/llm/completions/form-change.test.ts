import { expect, test } from 'vitest'
import { TOO_LARGE } from '../answer/form-change.ts'
import { collect, collected, failedBy, streamOf } from '../answer/testing.ts'
import { completionsForms } from './form-change.ts'

const data = (chunk: object | string) => `data: ${typeof chunk === 'string' ? chunk : JSON.stringify(chunk)}\n\n`
const token = (text: string) => ({
  token: text,
  logprob: -0.5,
  bytes: [1],
  top_logprobs: [{ token: 'x', logprob: -1 }],
})
const call = { id: 'c1', type: 'function', function: { name: 'f', arguments: '{"a":"é"}' }, own: 1 }
const custom = { id: 'c2', type: 'custom', custom: { name: 'g', input: 'text' } }

const AUDIO = { id: 'a', data: 'aGk=', transcript: 'hi', expires_at: 9 }

/** Everything that an answer may have, with members that the gateway does not know. */
const WHOLE = {
  ...{ id: 'x', object: 'chat.completion', created: 7, model: 'm', service_tier: 'default', system_fingerprint: 'fp' },
  prompt_filter_results: [{ prompt_index: 0 }],
  citations: ['https://a.example'],
  choices: [
    {
      index: 0,
      message: {
        ...{
          role: 'assistant',
          content: 'One "two"',
          refusal: null,
          reasoning_content: 'so',
          annotations: [{ type: 'url_citation' }],
        },
        audio: AUDIO,
        tool_calls: [call, custom],
      },
      logprobs: { content: [token('One'), token(' "two"')], refusal: null },
      finish_reason: 'tool_calls',
      content_filter_results: { hate: { filtered: false, severity: 'safe' } },
    },
    {
      index: 1,
      message: { role: 'assistant', content: null, refusal: 'No.' },
      logprobs: { content: null, refusal: [token('No.')] },
      finish_reason: 'content_filter',
    },
    {
      index: 2,
      message: { role: 'assistant', content: '', refusal: null, function_call: { name: 'h', arguments: '{}' } },
      logprobs: null,
      finish_reason: 'function_call',
    },
  ],
  usage: {
    prompt_tokens: 9,
    completion_tokens: 2,
    total_tokens: 11,
    completion_tokens_details: { reasoning_tokens: 1 },
  },
}

test('a whole answer is the same after both changes of its form', () => {
  const stream = streamOf(completionsForms, JSON.stringify(WHOLE), true)
  expect(JSON.parse(collected(completionsForms, stream))).toEqual(WHOLE)
})

test('numbers stay as they were written', () => {
  const text =
    '{"choices":[{"index":0,"message":{"content":"a"},"logprobs":{"content":[{"logprob":-0.10,"own":12345678901234567890}]},"finish_reason":"stop"}],"own":1.0}'
  const stream = streamOf(completionsForms, text, true)
  for (const number of ['"own":1.0', '"logprob":-0.10', '"own":12345678901234567890']) {
    expect(stream).toContain(number)
    expect(collected(completionsForms, stream)).toContain(number)
  }
})

test('chunks have the form of their vendor', () => {
  const chunks = streamOf(completionsForms, JSON.stringify(WHOLE), true)
    .split('\n\n')
    .slice(0, -2)
    .map((block) => JSON.parse(block.slice('data: '.length)))
  for (const chunk of chunks) {
    expect(chunk).toMatchObject({
      id: 'x',
      object: 'chat.completion.chunk',
      created: 7,
      model: 'm',
      service_tier: 'default',
      system_fingerprint: 'fp',
    })
  }
  expect(chunks.slice(0, -1).every(({ usage }) => usage === null)).toBe(true)
  expect(chunks.at(-1)).toMatchObject({ choices: [], usage: WHOLE.usage })
  expect(chunks.filter((chunk) => 'citations' in chunk)).toEqual([chunks[0]])
  const first = chunks.flatMap(({ choices }) => choices).filter(({ index }) => index === 0)
  expect(first.map(({ delta }) => delta)).toEqual([
    { role: 'assistant', content: '', refusal: null },
    { reasoning_content: 'so' },
    { content: 'One "two"' },
    { annotations: [{ type: 'url_citation' }] },
    { audio: AUDIO },
    { tool_calls: [{ index: 0, ...call, function: { name: 'f', arguments: '' } }] },
    { tool_calls: [{ index: 0, function: { arguments: '{"a":"é"}' } }] },
    { tool_calls: [{ index: 1, ...custom, custom: { name: 'g', input: '' } }] },
    { tool_calls: [{ index: 1, custom: { input: 'text' } }] },
    {},
  ])
  expect(first.map(({ finish_reason }) => finish_reason)).toEqual([...Array(9).fill(null), 'tool_calls'])
  expect(first[2].logprobs).toEqual(WHOLE.choices[0]!.logprobs)
  expect(first.filter(({ logprobs }) => logprobs !== null)).toHaveLength(1)
})

test('without usage that the client asked for, no chunk has the member', () => {
  expect(streamOf(completionsForms, JSON.stringify({ ...WHOLE, usage: undefined }), false)).not.toContain('"usage"')
})

test('probabilities of an answer without text are in the last chunk', () => {
  const choice = { index: 0, message: { content: null }, logprobs: { content: [token('a')] }, finish_reason: 'stop' }
  const stream = streamOf(completionsForms, JSON.stringify({ choices: [choice] }), false)
  expect(JSON.parse(collected(completionsForms, stream)).choices[0].logprobs).toEqual(choice.logprobs)
})

test('pieces of choices interleave, and are joined as clients join them', () => {
  const chunk = (index: number, delta: object, more: object = {}) =>
    data({ id: 'x', obfuscation: 'abc', choices: [{ index, delta, finish_reason: null, ...more }] })
  const stream =
    data({ id: '', model: '', choices: [], prompt_filter_results: [1] }) +
    chunk(1, { role: 'assistant', content: 'b' }) +
    chunk(0, { role: 'assistant', content: '' }) +
    chunk(
      0,
      { content: 'a', role: 'assistant' },
      { logprobs: { content: [1] }, content_filter_results: { hate: 'safe' } },
    ) +
    chunk(1, { content: 'c' }, { finish_reason: 'length' }) +
    chunk(0, { content: 'd' }, { logprobs: { content: [2] }, content_filter_results: { hate: 'safe' } }) +
    chunk(0, { audio: { id: 'a', data: 'aGk=', transcript: 'h' } }) +
    chunk(0, { audio: { data: 'IQ==', transcript: 'i' } }) +
    chunk(2, { audio: { data: 'no base64=' } }, { finish_reason: 'stop' }) +
    chunk(2, { audio: { data: 'x' } }) +
    chunk(0, { tool_calls: [{ index: 0, id: 'c1', type: 'function', function: { name: 'f', arguments: '{' } }] }) +
    chunk(0, { tool_calls: [{ index: 0, id: 'c1', type: 'function', function: { name: 'f', arguments: '}' } }] }) +
    chunk(0, { details: [{ index: 3, format: 'v1', signature: 's', text: 'a' }] }) +
    chunk(0, { details: [{ index: 3, format: 'v1', signature: 's', text: 'b' }] }) +
    chunk(0, { tool_calls: [{ index: 0, id: 'c2', custom: { name: 'g', input: 'x' } }] }) +
    chunk(0, { tool_calls: [{ index: 0, custom: { input: 'y' } }] }) +
    chunk(0, JSON.parse('{"__proto__":"own"}'), { finish_reason: 'tool_calls' }) +
    data('[DONE]')
  const whole = JSON.parse(collected(completionsForms, stream))
  expect(whole).toMatchObject({ id: 'x', object: 'chat.completion', prompt_filter_results: [1] })
  expect(whole.obfuscation).toBeUndefined()
  expect(whole.choices.map(({ message }: { message: { content: string } }) => message.content)).toEqual([
    'ad',
    'bc',
    null,
  ])
  expect(whole.choices[2].message.audio).toEqual({ data: 'no base64=x' })
  const [first, second] = whole.choices
  expect(first).toMatchObject({
    ...{ finish_reason: 'tool_calls', logprobs: { content: [1, 2] }, content_filter_results: { hate: 'safe' } },
    message: {
      role: 'assistant',
      details: [{ index: 3, format: 'v1', signature: 's', text: 'ab' }],
      audio: { id: 'a', data: Buffer.from('hi!').toString('base64'), transcript: 'hi' },
    },
  })
  expect(first.message.tool_calls).toEqual([
    { id: 'c1', type: 'function', function: { name: 'f', arguments: '{}' } },
    { id: 'c2', type: 'custom', custom: { name: 'g', input: 'xy' } },
  ])
  expect(Object.getOwnPropertyDescriptor(first.message, '__proto__')?.value).toBe('own')
  expect(second).toMatchObject({ finish_reason: 'length', logprobs: null })
})

test('a text before or after a list of parts is one of them', () => {
  const thought = (text: string) => ({ type: 'thinking', thinking: [{ type: 'text', text }] })
  const contentOf = (...pieces: readonly unknown[]) => {
    const chunks = pieces.map((content) => data({ choices: [{ index: 0, delta: { content } }] }))
    return JSON.parse(collected(completionsForms, `${chunks.join('')}${data('[DONE]')}`)).choices[0].message.content
  }
  const text = { type: 'text', text: 'one two' }
  expect(contentOf('', [thought('a')], [thought('b')], '', 'one ', 'two')).toEqual([thought('a'), thought('b'), text])
  expect(contentOf('one ', 'two', [thought('a')], null)).toEqual([text, thought('a')])
})

test('an event may have a whole message in place of a piece', () => {
  const message = { role: 'assistant', content: 'abc', tool_calls: [call], own: 1 }
  const whole = data({ choices: [{ index: 0, message, finish_reason: 'stop' }] })
  for (const stream of [whole, data({ choices: [{ index: 0, delta: { content: 'ab' } }] }) + whole]) {
    expect(JSON.parse(collected(completionsForms, stream)).choices[0].message).toEqual({ ...message, refusal: null })
  }
})

test('base64 in pieces with padding is joined', () => {
  const pieces = ['a', 'bc', 'def', 'g', '', 'hi'].map((text) => Buffer.from(text).toString('base64'))
  const chunks = pieces.map((piece) => data({ choices: [{ index: 0, delta: { audio: { data: piece } } }] }))
  const { message } = JSON.parse(collected(completionsForms, `${chunks.join('')}${data('[DONE]')}`)).choices[0]
  expect(Buffer.from(message.audio.data, 'base64').toString()).toBe('abcdefghi')
  expect(message.audio.data).toBe(Buffer.from('abcdefghi').toString('base64'))
})

test('members keep their names, however long they are', () => {
  const names = ['n', 'o'].map((letter) => letter.repeat(1100))
  const message = { role: 'assistant', content: null, refusal: null, [names[0]!]: 'a', [names[1]!]: 'b' }
  const stream = streamOf(completionsForms, JSON.stringify({ choices: [{ message }] }), false)
  expect(JSON.parse(collected(completionsForms, stream)).choices[0].message).toEqual(message)
})

test('what a piece repeats needs no more room', () => {
  const usage = { prompt_tokens: 1, completion_tokens: 2, total_tokens: 3 }
  const chunk = data({ id: 'x'.repeat(30), own: [1, 2], choices: [], usage })
  expect(failedBy(completionsForms, chunk.repeat(100), 1000)).toBeUndefined()
})

const LONG = 'b'.repeat(100)
/** Ten events with a name each. */
const flood = (chunk: (name: string) => object) =>
  Array.from({ length: 10 }, (_, index) => data(chunk('a'.repeat(index + 1)))).join('')
const began = data({ choices: [{ index: 0, delta: { content: 'a' } }] })
const ended = data({ choices: [{ index: 0, delta: {}, finish_reason: 'length' }] })
test.each<[what: string, stream: string, reason: string]>([
  ['an end mark alone', began + data('[DONE]'), 'stop'],
  [
    'an end mark alone after a call',
    data({ choices: [{ delta: { tool_calls: [call] } }] }) + data('[DONE]'),
    'tool_calls',
  ],
  ['a reason alone', began + ended, 'length'],
])('%s ends an answer', (_, stream, reason) => {
  expect(JSON.parse(collected(completionsForms, stream)).choices[0].finish_reason).toBe(reason)
})

test.each<[what: string, stream: string, fault: unknown]>([
  ['neither reason nor end mark', began, undefined],
  ['an empty reason', began + data({ choices: [{ index: 0, finish_reason: '' }] }), undefined],
  ['one of two reasons', began + ended + data({ choices: [{ index: 1, delta: {} }] }), undefined],
  ['no choice', data('[DONE]'), { kind: 'unusable', what: 'the response has no choice' }],
  ['no JSON', began + data('no'), { kind: 'unusable', what: 'an event of the stream is not JSON' }],
  ['a list', began + data('[1]'), { kind: 'unusable', what: 'an event of the stream is not JSON' }],
  ['an error', began + data({ error: { code: 1 } }), { kind: 'error', error: { error: { code: 1 } } }],
  ['an event of that name', `event: error\n${data({ message: 'm' })}`, { kind: 'error', error: { message: 'm' } }],
  ['a flood of members', flood((name) => ({ [name]: LONG })), TOO_LARGE],
  ['a flood of members of a choice', flood((name) => ({ choices: [{ index: 0, [name]: LONG }] })), TOO_LARGE],
  ['members that grow', flood((name) => ({ own: name.repeat(200) })), TOO_LARGE],
  ['a flood of choices', Array.from({ length: 30 }, (_, index) => began.replace('0', `${index}`)).join(''), TOO_LARGE],
  [
    'a long answer',
    began.replace('"a"', `"${'a'.repeat(1000)}"`),
    { kind: 'unusable', what: 'the response is too large' },
  ],
])('%s is no answer', (_, stream, fault) => {
  expect(failedBy(completionsForms, stream, 1000)).toEqual(fault)
})

test.each(['{}', '{"choices":null}', '{"choices":[]}', '{"choices":{"a":{"message":{}}}}', '{"choices":[{}]}'])(
  '%s is no whole answer',
  (answer) => {
    expect(() => streamOf(completionsForms, answer, false)).toThrow('the')
  },
)

test('a null takes nothing back, and texts with the sign that pads base64 are texts', () => {
  const deltas = [
    { content: 'a =' },
    { content: null },
    { content: 'bcd' },
    { own: [{ index: 4, type: '' }] },
    { own: [{ index: 4, type: 't' }] },
  ]
  const stream = deltas.map((delta) => data({ choices: [{ index: 0, delta }] })).join('')
  const { message } = JSON.parse(collected(completionsForms, stream + data('[DONE]'))).choices[0]
  expect(message).toMatchObject({ content: 'a =bcd', own: [{ index: 4, type: 't' }] })
})

test.each<[what: string, message: unknown]>([
  ['no message', undefined],
  ['a text as its message', 'a'],
  ['a list as its message', ['a']],
  ['a message of nulls', { role: null, content: null, own: null, tool_calls: null }],
])('a choice behind the first one with %s is an empty answer', (_, message) => {
  const choices = [{ message: { content: 'a' } }, { message, finish_reason: 'stop' }]
  const stream = streamOf(completionsForms, JSON.stringify({ choices }))
  const deltas = [...stream.matchAll(/"index":1,"delta":(\{.*?\})/g)].map(([, delta]) => JSON.parse(delta!))
  expect(deltas).toEqual([{ role: 'assistant', content: null, refusal: null }, {}])
})

test('a choice keeps its number and the role of its message', () => {
  const choice = { index: 3, message: { role: 'model' }, finish_reason: 'stop' }
  const stream = streamOf(completionsForms, JSON.stringify({ choices: [choice] }))
  expect(stream).toContain('"choices":[{"index":3,"delta":{"role":"model",')
  expect(JSON.parse(collected(completionsForms, stream)).choices).toMatchObject([{ index: 3 }])
})

test.each(['event: ping\ndata:\n\n', 'data: \n\n'])('an event without data, %j, is ignored', (event) => {
  const stream = `${event}${data({ choices: [{ index: 0, delta: { content: 'a' } }] })}${event}${data('[DONE]')}`
  expect(JSON.parse(collected(completionsForms, stream)).choices[0].message.content).toBe('a')
})

test('of a chunk with a text of one letter, 72 units of text are kept', () => {
  const choices = [{ index: 0, delta: { content: 'a' } }]
  const chunk = data({ object: 'chat.completion.chunk', obfuscation: 'abcdef', choices })
  const stream = chunk.repeat(10) + data('[DONE]')
  expect([719, 720].map((room) => collect(completionsForms, stream, room)?.kind)).toEqual(['unusable', 'whole'])
})

test.each<[what: string, choice: object, content: string]>([
  ['no delta', {}, 'ab'],
  ['a null as its delta', { delta: null }, 'ab'],
  ['an empty message', { message: {} }, 'ab'],
  ['a delta besides a message', { delta: { content: 'c' }, message: { role: 'assistant', content: 'x' } }, 'abc'],
  ['a message of one member', { message: { content: 'x' } }, 'x'],
])('after the text ab, a choice with %s', (_, choice, content) => {
  const stream =
    data({ choices: [{ index: 0, delta: { content: 'ab' } }] }) + data({ choices: [{ index: 0, ...choice }] })
  expect(JSON.parse(collected(completionsForms, stream + data('[DONE]'))).choices[0].message).toMatchObject({
    role: 'assistant',
    content,
  })
})

test.each([null, ''])('a value is not taken back by %j in a later chunk', (value) => {
  const stream =
    data({ id: 'x', choices: [{ index: 0, delta: {}, finish_reason: 'length' }] }) +
    data({ id: value, choices: [{ index: 0, delta: {}, finish_reason: value }] }) +
    data('[DONE]')
  const choices = [{ finish_reason: 'length' }]
  expect(JSON.parse(collected(completionsForms, stream))).toMatchObject({ id: 'x', choices })
})

test('calls of a whole message are separate, even with one id', () => {
  const message = { role: 'assistant', content: null, refusal: null, tool_calls: [call, call] }
  const stream = data({ choices: [{ index: 0, message }] }) + data('[DONE]')
  expect(JSON.parse(collected(completionsForms, stream)).choices[0].message).toEqual(message)
})

test('a call without a type is a function', () => {
  const untyped = { id: 'c', function: { name: 'f', arguments: '{}' } }
  const stream = data({ choices: [{ index: 0, delta: { tool_calls: [{ index: 0, ...untyped }] } }] }) + data('[DONE]')
  const { message } = JSON.parse(collected(completionsForms, stream)).choices[0]
  expect(message.tool_calls).toEqual([{ ...untyped, type: 'function' }])
})
