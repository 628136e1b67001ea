import { expect, test } from 'vitest'
import { runAtOnce } from '#base/in-slices.ts'
import type { ExemptPlace } from '../../texts/body-texts.ts'
import { documentOf, eventOf, runsOf } from '../../texts/testing.ts'
import { readAnswerTexts, readEventTexts, readRequestTexts } from './texts.ts'

test('texts of messages are runs with roles; parts without text, names and unknown members do not separate them', () => {
  const messages = [
    { role: 'developer', content: 'be brief', name: 'boss' },
    {
      role: 'user',
      content: [
        { type: 'text', text: '123-45', note: 'unknown member' },
        { type: 'image_url', image_url: { url: 'https://a.test/b?c=1', detail: 'low' } },
        { type: 'text', text: '-6789' },
        { type: 'newer', body: 'unknown part' },
      ],
      wish: 'unknown member of a message',
    },
    {
      role: 'assistant',
      content: null,
      reasoning_content: 'thought',
      tool_calls: [
        { id: 'call_1', type: 'function', function: { name: 'f', arguments: '{"to":"jane"}' } },
        { id: 'call_2', type: 'function', function: { name: 'g', arguments: '{"to":' } },
        { id: 'call_3', type: 'custom', custom: { name: 'h', input: 'plain' } },
      ],
    },
    { role: 'tool', tool_call_id: 'call_1', content: 'found' },
    { role: 'someone', content: 'who?' },
  ]
  expect(runsOf({ model: 'm', messages }, readRequestTexts)).toEqual([
    ['system', 'messages[0].content: be brief'],
    ['(system)', 'messages[0].name: boss!'],
    [
      'user',
      'messages[1].content[0].text: 123-45',
      'messages[1].content[2].text: -6789',
      'messages[1].content[3].body: unknown part',
    ],
    ['(user)', 'messages[1].content[0].note: unknown member', 'messages[1].wish: unknown member of a message'],
    [
      '(assistant)',
      'messages[2].tool_calls[0].function.name: f!',
      'messages[2].tool_calls[0].function.arguments: {"to":"jane"} (arguments)',
      'messages[2].tool_calls[1].function.name: g!',
      'messages[2].tool_calls[1].function.arguments: {"to": (arguments)',
      'messages[2].tool_calls[2].custom.name: h!',
      'messages[2].tool_calls[2].custom.input: plain',
    ],
    ['assistant', 'messages[2].reasoning_content: thought'],
    ['tool', 'messages[3].content: found'],
    ['user', 'messages[4].content: who?'],
  ])
})

test('all of a schema is seen; only descriptions can change, and names of a client are not in paths', () => {
  const parameters = {
    type: 'object',
    description: 'about a person',
    properties: { 'jane@example.test': { type: ['string', 'null'], enum: ['red'], default: 'blue', title: 'Hue' } },
    required: ['jane@example.test'],
    'x-note': { deep: 'value' },
  }
  const body = {
    messages: [],
    response_format: { type: 'json_schema', json_schema: { name: 'n', description: 'd', schema: { const: 'c' } } },
    tools: [{ type: 'function', function: { name: 'find', description: 'finds', parameters } }],
    prediction: { type: 'content', content: 'expected' },
  }
  const at = 'tools[0].function.parameters'
  expect(runsOf(body, readRequestTexts)).toEqual([
    [
      '(system)',
      'tools[0].function.name: find!',
      'tools[0].function.description: finds',
      `${at}.description: about a person`,
      `${at}.properties{0}:name: jane@example.test!`,
      `${at}.properties{0}.enum[0]: red!`,
      `${at}.properties{0}.default: blue!`,
      `${at}.properties{0}.title: Hue`,
      `${at}.required[0]: jane@example.test!`,
      `${at}{4}:name: x-note!`,
      `${at}{4}{0}:name: deep!`,
      `${at}{4}{0}: value!`,
    ],
    [
      '(system)',
      'response_format.json_schema.name: n!',
      'response_format.json_schema.description: d',
      'response_format.json_schema.schema.const: c!',
    ],
    ['assistant', 'prediction.content: expected'],
  ])
})

test('text files are text, other files are exempt', () => {
  const part = (file: object) => ({ type: 'file', file })
  const base64 = (text: string) => Buffer.from(text, 'latin1').toString('base64')
  const content = [
    part({ file_data: `data:text/csv;base64,${base64('a,b')}`, filename: 'a.csv' }),
    part({ file_data: base64('{"a":1}') }),
    part({ file_data: 'data:,plain%20text' }),
    part({ file_data: `data:application/pdf;base64,${base64('%PDF-1.7\n%\xe2\xe3\xcf\xd3\n\0')}` }),
    part({ file_data: base64('\x89PNG\0') }),
    part({ file_data: 'no base64!' }),
    part({ file_data: `data:text/plain;base64,${base64('caf\xe9')}` }),
  ]
  const document = documentOf({ messages: [{ role: 'user', content }] })
  const exempt: ExemptPlace[] = []
  const { runs } = runAtOnce(readRequestTexts(document, exempt))
  expect(runs[0]!.places.map(({ path, form, canChange }) => [path.replace(/.*content/, ''), form, canChange])).toEqual([
    ['[0].file.file_data', 'base64', true],
    ['[1].file.file_data', 'base64', true],
    ['[2].file.file_data', 'base64', true],
    ['[5].file.file_data', 'string', true],
    ['[6].file.file_data', 'base64', false],
  ])
  expect(exempt.filter(({ path }) => path.endsWith('file_data'))).toEqual([
    expect.objectContaining({ path: 'messages[0].content[3].file.file_data' }),
    expect.objectContaining({ path: 'messages[0].content[4].file.file_data' }),
  ])
})

test('files are read where another interface has them, because its requests may have this type', () => {
  const data = Buffer.from('a,b').toString('base64')
  const file = { type: 'input_file', filename: 'a.csv', file_data: `data:text/csv;base64,${data}` }
  const document = { type: 'document', source: { type: 'base64', media_type: 'text/plain', data } }
  const body = {
    model: 'm',
    input: [
      { role: 'user', content: [file] },
      { type: 'function_call_output', call_id: 'c', output: [file] },
    ],
    prompt: { variables: { a: file } },
    messages: [{ role: 'user', content: [file, { type: 'tool_result', content: [document] }] }],
    other: { data: 'no file', media_type: 'text/plain', file_data: 'no file', more: { data } },
  }
  const { runs } = runAtOnce(readRequestTexts(documentOf(body)))
  const places = runs.flatMap((run) => run.places)
  const files = places.filter(({ form }) => form === 'base64')
  expect(files.map(({ path, canChange }) => [path, canChange])).toEqual([
    ['messages[0].content[0].file_data', true],
    ['messages[0].content[1].content[0]{1}{2}', true],
    ['input[0]{1}[0]{2}', true],
    ['input[1]{2}[0]{2}', true],
    ['prompt{0}{0}{2}', true],
  ])
  const others = places.filter(
    ({ path, form, canChange }) => path.startsWith('other') && form === 'string' && canChange,
  )
  expect(others).toHaveLength(4)
})

test('ids and settings are exempt only as long as they look like such', () => {
  const messages = [{ role: 'tool', tool_call_id: 'call_1', content: 'x' }]
  expect(runsOf({ messages, reasoning_effort: 'low', model: 'm' }, readRequestTexts)).toHaveLength(1)
  const odd = [{ role: 'tool', tool_call_id: 'to jane@example.test', content: 'x' }]
  expect(runsOf({ messages: odd, reasoning_effort: 'tell jane' }, readRequestTexts)).toEqual([
    ['tool', 'messages[0].content: x'],
    ['(tool)', 'messages[0].tool_call_id: to jane@example.test!'],
    ['(user)', 'reasoning_effort: tell jane!'],
  ])
})

test('an answer: content, refusal, reasoning, calls, citations and log probabilities', () => {
  const message = {
    role: 'assistant',
    content: 'hello',
    refusal: null,
    annotations: [{ type: 'url_citation', url_citation: { title: 't', url: 'https://a.test', start_index: 0 } }],
    tool_calls: [{ id: 'c', type: 'function', function: { name: 'f', arguments: '{}' } }],
  }
  const logprobs = { content: [{ token: 'hello', bytes: [104] }] }
  const body = { id: 'x', choices: [{ index: 0, finish_reason: 'stop', message, logprobs }], usage: { a: 'b' } }
  const calls = 'choices[0].message.tool_calls[0].function'
  expect(runsOf(body, readAnswerTexts)).toEqual([
    ['(user)', 'choices[0].logprobs: [object Object] (logprobs)'],
    ['assistant', 'choices[0].message.content: hello'],
    [
      '(assistant)',
      'choices[0].message.annotations[0].url_citation.title: t',
      'choices[0].message.annotations[0].url_citation.url: https://a.test',
      `${calls}.name: f!`,
      `${calls}.arguments: {} (arguments)`,
    ],
  ])
})

test('chunks: a block for each choice and each member, numbered by their own index', () => {
  const calls = [{ index: 3, id: 'c', function: { name: 'f', arguments: '{"a' } }]
  const delta = { role: 'assistant', content: 'hel', reasoning_content: 'hm', vision: 'unknown', tool_calls: calls }
  expect(eventOf({ choices: [{ index: 1, delta }], note: 'unknown' }, readEventTexts)).toEqual({
    texts: [
      'delta choices[1].delta.content: hel',
      'delta choices[1].delta.reasoning_content: hm',
      'delta choices[1].delta.vision: unknown',
      'delta choices[1].delta.tool_calls[3].function.name: f!',
      'delta choices[1].delta.tool_calls[3].function.arguments: {"a (arguments)',
      'delta event note: unknown',
    ],
    closes: ['choices[1].delta.tool_calls[3].function.name', 'event note'],
  })
  expect(eventOf({ choices: [{ index: 1, delta: {}, finish_reason: 'stop' }] }, readEventTexts)).toEqual({
    texts: [],
    closes: ['choices[1].*'],
  })
  const parts = { content: ['a', { type: 'text', text: 'b' }, { type: 'newer', body: 'c' }] }
  expect(eventOf({ choices: [{ index: 0, delta: parts }] }, readEventTexts).texts).toEqual([
    'delta choices[0].delta.content: a',
    'delta choices[0].delta.content: b',
    'delta choices[0].delta.content[2].body: c',
  ])
  const logprobs = { content: [{ token: 'a' }, { token: 'b' }] }
  expect(eventOf({ choices: [{ index: 0, delta: {}, logprobs }] }, readEventTexts).texts).toEqual([
    'delta choices[0].logprobs: [object Object] (logprobs)',
  ])
})
