import { expect, test } from 'vitest'
import { runAtOnce } from '#base/in-slices.ts'
import type { Conversation, Part, ReasoningWish, Tool } from '../../chat/conversation.ts'
import { Losses } from '../../chat/losses.ts'
import { TargetNames } from '../../chat/target-names.ts'
import { Untranslatable } from '../../chat/untranslatable.ts'
import { type JsonValue, parseDocument } from '../../json/json-document.ts'
import { JsonPieces, writeJson } from '../../json/write-json.ts'
import { writeRequest } from './write-request.ts'

// What clients of the messages API cannot say. Everything else is in `test/llm/messages`.

const json = (text: string) => new TextEncoder().encode(text)
const place = parseDocument(json('{"here":1.5}')) as JsonValue
const origin = place.get('here')!

const BASE: Conversation = {
  model: 'claude-sonnet-4-0',
  streamed: false,
  turns: [{ role: 'user', parts: [{ kind: 'text', text: json('"Hello."'), origin }], origin }],
  tools: [],
  toolChoice: undefined,
  parallelCalls: undefined,
  maxTokens: undefined,
  sampling: {},
  stop: [],
  format: undefined,
  reasoning: undefined,
  user: undefined,
  serviceTier: undefined,
}

function written(parts: Partial<Conversation>, given = new Uint8Array()) {
  const conversation = { ...BASE, ...parts }
  const losses = new Losses()
  const names = new TargetNames(conversation.tools.map(({ name }) => name))
  const text = new TextDecoder().decode(
    writeJson(runAtOnce(writeRequest(conversation, { names, body: given }, losses))),
  )
  return { text, body: JSON.parse(text), losses: losses.paths }
}

const withPart = (part: Part) =>
  written({ turns: [{ role: 'user', parts: [part], origin }] }).body.messages[0].content[0]

/** Decision B27. A body of one byte for each token would leave nothing of the context. */
test.each<[model: string, wish: ReasoningWish | undefined, bytes: number, limit: number, budget: number | undefined]>([
  ['claude-sonnet-4-5', undefined, 0, 8192, undefined],
  ['claude-3-haiku', undefined, 0, 4096, undefined],
  ['unknown-model', undefined, 0, 8192, undefined],
  ['claude-sonnet-4-5', { effort: 'high', origin }, 0, 8192, 4096],
  ['claude-sonnet-4-5', { effort: 'xhigh', origin }, 0, 16_384, 8192],
  ['claude-sonnet-4-5', { effort: 'max', origin }, 0, 32_768, 16_384],
  ['claude-sonnet-4-5', { budget: 50_000, origin }, 0, 64_000, 50_000],
  ['claude-opus-4-7', { effort: 'max', origin }, 0, 8192, undefined],
  ['claude-sonnet-4-5', undefined, 396_000, 2000, undefined],
  ['claude-sonnet-4-5', undefined, 1_000_000, 1, undefined],
])('without a limit, %s with %j and %i bytes gets %i tokens', (model, reasoning, bytes, limit, budget) => {
  const { body } = written({ model, reasoning }, Buffer.from('a '.repeat(bytes / 2)))
  expect([body.max_tokens, body.thinking?.budget_tokens]).toEqual([limit, budget])
})

test('without turns there is one all the same', () => {
  const turns = [{ role: 'system', parts: [{ kind: 'text', text: json('"Hi."'), origin }], origin }] as const
  expect(written({ turns }).body).toMatchObject({
    system: [{ type: 'text', text: 'Hi.' }],
    messages: [{ role: 'user' }],
  })
})

test('JSON of any kind is asked for in words', () => {
  expect(written({ format: { kind: 'json' } }).body.system).toEqual([
    { type: 'text', text: 'Answer with one JSON object and nothing else.' },
  ])
})

test('files of text become texts, and images of one type have its usual name', () => {
  const data = json(btoa('gr\xc3\xbcn'))
  const file = withPart({ kind: 'file', source: { kind: 'data', mediaType: 'text/csv', data }, name: 'a.csv', origin })
  expect(file).toEqual({
    type: 'document',
    title: 'a.csv',
    source: { type: 'text', media_type: 'text/plain', data: 'grün' },
  })
  const image = withPart({
    kind: 'image',
    source: { kind: 'data', mediaType: 'image/jpg', data: json('AAAA') },
    origin,
  })
  expect(image.source).toEqual({ type: 'base64', media_type: 'image/jpeg', data: 'AAAA' })
})

test.each<[what: string, part: Part]>([
  ['audio', { kind: 'audio', data: json('AAAA'), format: 'wav', origin }],
  [
    'an image of another type',
    { kind: 'image', source: { kind: 'data', mediaType: 'image/tiff', data: json('AA') }, origin },
  ],
  [
    'a file of another type',
    { kind: 'file', source: { kind: 'data', mediaType: 'application/zip', data: json('AA') }, origin },
  ],
  ['an uploaded file', { kind: 'file', source: { kind: 'id', id: json('"f"') }, origin }],
  [
    'a text file that is no base64',
    { kind: 'file', source: { kind: 'data', mediaType: 'text/plain', data: json('%') }, origin },
  ],
])('%s is refused with its place', (_, part) => {
  expect(() => withPart(part)).toThrow(Untranslatable)
  expect(() => withPart(part)).toThrow(/^here: /)
})

test('an image in a system text is refused', () => {
  const part: Part = { kind: 'image', source: { kind: 'url', url: json('"https://example.com"') }, origin }
  expect(() => written({ turns: [{ role: 'system', parts: [part], origin }] })).toThrow(/^here: /)
})

const TOOL: Tool = {
  name: 'a',
  description: undefined,
  parameters: undefined,
  strict: undefined,
  takesText: false,
  origin,
}

test('every tool has a schema of an object', () => {
  const { body, losses } = written({
    tools: [
      TOOL,
      { ...TOOL, name: 'b', strict: true, parameters: json(' { "properties": {} }') },
      { ...TOOL, name: 'c', takesText: true, description: json('"C"') },
      { ...TOOL, name: 'd', parameters: json('{"type":"object"}'), strict: false },
    ],
  })
  expect(body.tools).toEqual([
    { name: 'a', input_schema: { type: 'object', properties: {} } },
    { name: 'b', input_schema: { type: 'object', properties: {} } },
    {
      name: 'c',
      description: 'C',
      input_schema: { type: 'object', properties: { input: { type: 'string' } }, required: ['input'] },
    },
    { name: 'd', input_schema: { type: 'object', properties: {} } },
  ])
  expect(losses).toEqual(['here (strict)'])
})

test('numbers of schemas and inputs keep every digit', () => {
  const call: Part = { kind: 'call', id: 'i', name: 'a', input: json('{"n":1.0,"m":10000000000000000001}'), origin }
  const { text } = written({
    tools: [{ ...TOOL, parameters: json('{"maximum":12345678901234567890.50}') }],
    turns: [{ role: 'assistant', parts: [call], origin }],
  })
  expect(text).toContain('"input_schema":{"type":"object","properties":{},"maximum":12345678901234567890.50}')
  expect(text).toContain('"input":{"n":1.0,"m":10000000000000000001}')
})

test.each<[input: string, written: unknown]>([
  ['{"a":1}', { a: 1 }],
  ['"no JSON', { input: 'no JSON' }],
  ['[1]', { input: [1] }],
])('the input %s of a call is written as an object', (input, expected) => {
  const text = input === '"no JSON' ? new JsonPieces(['"no JSON', '"']) : json(input)
  const call: Part = { kind: 'call', id: 'i', name: 'a', input: text, origin }
  const { body } = written({ tools: [TOOL], turns: [{ role: 'assistant', parts: [call], origin }] })
  expect(body.messages[1].content[0].input).toEqual(expected)
})

test('one call at a time can be asked for without a choice of tools', () => {
  expect(written({ tools: [TOOL], parallelCalls: { allowed: false, origin } }).body.tool_choice).toEqual({
    type: 'auto',
    disable_parallel_tool_use: true,
  })
  expect(
    written({ parallelCalls: { allowed: false, origin }, toolChoice: { kind: 'any', origin } }).body.tool_choice,
  ).toBeUndefined()
})

test('what the API has no word for is dropped, and said', () => {
  const { body, losses } = written({
    sampling: { seed: origin, frequencyPenalty: origin, presencePenalty: origin, temperature: origin },
    serviceTier: { name: 'flex', origin },
  })
  expect(body).toEqual({
    model: 'claude-sonnet-4-0',
    max_tokens: 8192,
    messages: [{ role: 'user', content: [{ type: 'text', text: 'Hello.' }] }],
    temperature: 1,
  })
  expect(losses).toEqual(['here', 'here', 'here', 'here (sent as 1, the maximum of the provider)', 'here'])
})
