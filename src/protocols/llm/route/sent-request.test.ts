import { expect, test } from 'vitest'
import type { NumberParameter } from '#exchange/llm-facts.ts'
import { type Setup, sent } from '#test/support/prepare-llm.ts'

const FOUR: Setup = { provider: { providerFour: {} }, ai: { routes: { '*': 'Messages' } } }
const RESPONSES: Setup = { ai: { routes: { '*': 'Responses' } } }
const EMBEDDINGS: Setup = { ai: { routes: { '*': 'Embeddings' } } }
const DETECT: Setup = { ai: { routes: { '*': 'Detect' } } }

function requestOf(body: object | string, setup: Setup) {
  const written = typeof body === 'string' ? body : { model: 'm', ...body }
  return sent(typeof written === 'string' ? written : JSON.stringify(written), setup).facts!.request!
}

const user = (content: unknown) => ({ role: 'user', content })

test.each<[what: string, body: object, setup: Setup, prompt: object[]]>([
  ['chat', { messages: [user('hi'), { role: 'assistant' }] }, {}, [user('hi'), { role: 'assistant', content: '' }]],
  [
    'chat with parts',
    { messages: [user([{ type: 'text', text: 'a' }, { type: 'image_url' }, { type: 'text', text: 'b' }])] },
    {},
    [user('a b')],
  ],
  ['chat without messages', { messages: 'x' }, {}, []],
  [
    'messages',
    { max_tokens: 1, messages: [user([{ type: 'text', text: 'a' }])], system: [{ text: 'x' }, { text: 'y' }] },
    FOUR,
    [{ role: 'system', content: 'x\ny' }, user('a')],
  ],
  ['responses as text', { input: 'hi', instructions: 'x' }, RESPONSES, [{ role: 'system', content: 'x' }, user('hi')]],
  [
    'responses as items',
    { input: [user([{ text: 'a' }, { text: 'b' }]), { type: 'function_call', name: 'f' }], instructions: null },
    RESPONSES,
    [user('a\nb')],
  ],
  ['embeddings', { input: ['a', 'b'] }, EMBEDDINGS, [user('a'), user('b')]],
  ['numbers for embeddings', { input: [1, 2] }, EMBEDDINGS, []],
  ['unknown', { messages: [user('hi')] }, DETECT, [user('hi')]],
])('the prompt of %s', (_, body, setup, prompt) => {
  const request = requestOf(body, setup)
  expect(request.prompt).toEqual(prompt)
  expect(request.prompt).toBe(request.prompt)
})

test.each<[body: object, setup: Setup, type: string | undefined]>([
  [{ response_format: { type: 'json_schema', json_schema: { type: 'text' } } }, {}, 'json'],
  [{ response_format: { type: 'json_object' } }, {}, 'json'],
  [{ response_format: { type: 'text' } }, {}, 'text'],
  [{ response_format: 'json' }, {}, undefined],
  [{ modalities: ['text', 'audio'], response_format: { type: 'text' } }, {}, 'speech'],
  [{ modalities: ['text'] }, {}, undefined],
  [{ text: { format: { type: 'json_schema' } } }, RESPONSES, 'json'],
  [{ text: { verbosity: 'low' } }, RESPONSES, undefined],
  [{ output_config: { format: { type: 'json_schema' } } }, FOUR, 'json'],
  [{ output_format: { type: 'json_schema' } }, FOUR, 'json'],
  [{}, {}, undefined],
])('%j asks for the output type that it names', (body, setup, type) => {
  expect(requestOf(body, setup).outputType).toBe(type)
})

test('the prompt has the configured messages, and masks in place of masked text', () => {
  const ai = {
    prompt: { prepend: [{ role: 'system', content: 'Be brief.' }] },
    promptGuard: { request: [{ regex: { matches: ['sec[a-z]+'], action: 'Mask' as const } }] },
  }
  const { prompt } = requestOf({ messages: [user('a secret')] }, { ai })
  expect(prompt[0]).toEqual({ role: 'system', content: 'Be brief.' })
  expect(prompt[1]?.content).not.toContain('secret')
})

const NUMBERS: readonly NumberParameter[] = [
  'temperature',
  'top_p',
  'frequency_penalty',
  'presence_penalty',
  'seed',
  'max_tokens',
  'dimensions',
]
const EVERY = { temperature: 0.5, top_p: 1, frequency_penalty: -1.5, presence_penalty: 2, seed: -7, max_tokens: 10 }

test.each<[body: object | string, setup: Setup, numbers: Partial<Record<NumberParameter, number>>]>([
  [EVERY, {}, EVERY],
  [{ max_tokens: 10, max_completion_tokens: 20 }, {}, { max_tokens: 20 }],
  [{ max_output_tokens: 30 }, RESPONSES, { max_tokens: 30 }],
  [{ max_tokens: 10, messages: [] }, FOUR, { max_tokens: 10 }],
  [{ dimensions: 3 }, EMBEDDINGS, { dimensions: 3 }],
  [{ temperature: '1', top_p: null, seed: true, dimensions: [3] }, {}, {}],
  ['{"model":"m","seed":9007199254740993,"temperature":1e999}', {}, {}],
  ['{"model":"m","seed":1e3,"temperature":1.0}', {}, { seed: 1000, temperature: 1 }],
  [{ temperature: 1 }, DETECT, { temperature: 1 }],
])('parameters of %j', (body, setup, numbers) => {
  const request = requestOf(body, setup)
  const read = NUMBERS.map((name) => [name, request.number(name)] as const).filter(([, value]) => value !== undefined)
  expect(Object.fromEntries(read)).toEqual(numbers)
})

test('the encoding format of embeddings', () => {
  expect(requestOf({ encoding_format: 'base64' }, EMBEDDINGS).text('encoding_format')).toBe('base64')
  expect(requestOf({ encoding_format: 7 }, EMBEDDINGS).text('encoding_format')).toBeUndefined()
  expect(requestOf({}, EMBEDDINGS).text('encoding_format')).toBeUndefined()
})

test('parameters are those that were sent on, defaults and overrides among them', () => {
  const ai = { defaults: [{ field: 'temperature', value: 0.1 }], overrides: [{ field: 'max_tokens', value: 5 }] }
  const request = requestOf({ max_tokens: 100 }, { ai })
  expect([request.number('temperature'), request.number('max_tokens')]).toEqual([0.1, 5])
})
