import Anthropic from '@anthropic-ai/sdk'
import OpenAI from 'openai'
import { afterAll, beforeAll, beforeEach, expect, test } from 'vitest'
import {
  type AnsweringProvider,
  eventStream,
  providerYaml,
  startAnsweringProvider,
} from '#test/support/answering-provider.ts'
import { freePort } from '#test/support/free-port.ts'
import { startGateway } from '#test/support/gateway.ts'
import { createObjectsFolder, gatewayYaml, joinYaml, routeYaml } from '#test/support/objects-folder.ts'

// The vendors' own clients reach providers of the other API.

const stops = new AsyncDisposableStack()
let port: number

let provider: AnsweringProvider

const ROUTES = { '/chat/completions': 'Completions', '/messages': 'Messages' }

beforeAll(async () => {
  provider = stops.use(await startAnsweringProvider())
  port = await freePort()
  const objects = await createObjectsFolder({
    'all.yaml': joinYaml(
      gatewayYaml(port),
      providerYaml('one', 'providerOne', provider.port, ROUTES),
      providerYaml('four', 'providerFour', provider.port, ROUTES),
      routeYaml('to-one', '/v1/messages', 'one'),
      routeYaml('to-four', '/v1/chat/completions', 'four'),
    ),
  })
  stops.defer(objects.remove)
  const gateway = await startGateway({ files: [objects.path], workers: 1 })
  stops.defer(async () => void (await gateway.close()))
})

beforeEach(() => {
  provider.answer = { body: {} }
})

afterAll(() => stops.disposeAsync())

const openai = () => new OpenAI({ baseURL: `http://127.0.0.1:${port}/v1`, apiKey: 'k', maxRetries: 0 })
const anthropic = () => new Anthropic({ baseURL: `http://127.0.0.1:${port}`, apiKey: 'k', maxRetries: 0 })

const chunks = (...deltas: readonly object[]) =>
  deltas.map((delta) => `data: ${JSON.stringify({ id: 'c', model: 'm', choices: [{ index: 0, delta }] })}\n\n`).join('')

const START = {
  type: 'message_start',
  message: { id: 'msg_1', model: 'claude', content: [], usage: { input_tokens: 7, output_tokens: 1 } },
}
const TOOL_STREAM = eventStream(
  START,
  { type: 'content_block_start', index: 0, content_block: { type: 'text', text: '' } },
  { type: 'content_block_delta', index: 0, delta: { type: 'text_delta', text: 'I look.' } },
  { type: 'content_block_stop', index: 0 },
  { type: 'content_block_start', index: 1, content_block: { type: 'tool_use', id: 't1', name: 'weather', input: {} } },
  { type: 'content_block_delta', index: 1, delta: { type: 'input_json_delta', partial_json: '{"city":' } },
  { type: 'content_block_delta', index: 1, delta: { type: 'input_json_delta', partial_json: '"Oslo"}' } },
  { type: 'content_block_stop', index: 1 },
  { type: 'message_delta', delta: { stop_reason: 'tool_use' }, usage: { output_tokens: 9 } },
  { type: 'message_stop' },
)
const PARAMETERS = { type: 'object' as const, properties: { city: { type: 'string' } } }

test('a client of chat completions streams a call of a tool from a provider of messages', async () => {
  provider.answer = { body: TOOL_STREAM }
  const stream = openai().chat.completions.stream({
    model: 'claude-sonnet-4-5',
    messages: [{ role: 'user', content: 'Weather?' }],
    tools: [{ type: 'function', function: { name: 'weather', parameters: PARAMETERS } }],
    stream_options: { include_usage: true },
  })
  const { choices, usage } = await stream.finalChatCompletion()
  expect(choices[0]).toMatchObject({
    finish_reason: 'tool_calls',
    message: {
      content: 'I look.',
      tool_calls: [{ id: 't1', function: { name: 'weather', arguments: '{"city":"Oslo"}' } }],
    },
  })
  expect(usage).toMatchObject({ prompt_tokens: 7, completion_tokens: 9, total_tokens: 16 })
  expect(provider.got).toEqual({
    path: '/v1/messages',
    body: {
      model: 'claude-sonnet-4-5',
      max_tokens: 8192,
      messages: [{ role: 'user', content: [{ type: 'text', text: 'Weather?' }] }],
      tools: [{ name: 'weather', input_schema: PARAMETERS }],
      stream: true,
    },
  })
})

test('a client of messages streams two calls that overlap from a provider of chat completions', async () => {
  const call = (index: number, id: string, name: string) => ({
    index,
    id,
    type: 'function',
    function: { name, arguments: '' },
  })
  const piece = (index: number, text: string) => ({ tool_calls: [{ index, function: { arguments: text } }] })
  provider.answer = {
    body:
      chunks(
        { role: 'assistant', content: 'I look.' },
        { tool_calls: [call(0, 'a', 'weather'), call(1, 'b', 'weather')] },
        piece(1, '{"city":"Rome"}'),
        piece(0, '{"city":'),
        piece(0, '"Oslo"}'),
      ) +
      `data: ${JSON.stringify({ choices: [{ index: 0, delta: {}, finish_reason: 'tool_calls' }] })}\n\n` +
      `data: ${JSON.stringify({ choices: [], usage: { prompt_tokens: 7, completion_tokens: 9, total_tokens: 16 } })}\n\n` +
      'data: [DONE]\n\n',
  }
  const stream = anthropic().messages.stream({
    model: 'gpt-4o',
    max_tokens: 100,
    system: 'Be brief.',
    messages: [{ role: 'user', content: 'Weather?' }],
    tools: [{ name: 'weather', input_schema: PARAMETERS }],
  })
  const message = await stream.finalMessage()
  expect(message).toMatchObject({
    stop_reason: 'tool_use',
    content: [
      { type: 'text', text: 'I look.' },
      { type: 'tool_use', id: 'a', name: 'weather', input: { city: 'Oslo' } },
      { type: 'tool_use', id: 'b', name: 'weather', input: { city: 'Rome' } },
    ],
    usage: { input_tokens: 7, output_tokens: 9 },
  })
  expect(provider.got.body).toMatchObject({
    messages: [
      { role: 'system', content: 'Be brief.' },
      { role: 'user', content: 'Weather?' },
    ],
    stream_options: { include_usage: true },
  })
})

test('whole answers', async () => {
  const content = [{ type: 'text', text: 'Hello.' }]
  provider.answer = {
    body: {
      id: 'm',
      type: 'message',
      content,
      stop_reason: 'max_tokens',
      usage: { input_tokens: 1, output_tokens: 2 },
    },
  }
  const completion = await openai().chat.completions.create({
    model: 'claude-opus-4-7',
    messages: [{ role: 'user', content: 'Hi.' }],
  })
  expect(completion.choices[0]).toMatchObject({ message: { content: 'Hello.' }, finish_reason: 'length' })

  provider.answer = {
    body: {
      id: 'c',
      model: 'gpt-4o',
      choices: [{ index: 0, message: { role: 'assistant', content: 'Hello.' }, finish_reason: 'stop' }],
      usage: { prompt_tokens: 10, completion_tokens: 2, total_tokens: 12, prompt_tokens_details: { cached_tokens: 4 } },
    },
  }
  const message = await anthropic().messages.create({
    model: 'gpt-4o',
    max_tokens: 9,
    messages: [{ role: 'user', content: 'Hi.' }],
  })
  expect(message).toMatchObject({
    content: [{ type: 'text', text: 'Hello.' }],
    stop_reason: 'end_turn',
    usage: { input_tokens: 6, cache_read_input_tokens: 4, output_tokens: 2 },
  })
})

test('an id of a call that the messages API does not accept comes back to its provider as it was', async () => {
  const calls = ['functions.Bash:0', 'functions.Bash:1'].map((id) => {
    return { id, type: 'function', function: { name: 'Bash', arguments: '{"command":"ls"}' } }
  })
  const message = { role: 'assistant', content: null, tool_calls: calls }
  provider.answer = { body: { id: 'c', model: 'm', choices: [{ index: 0, message, finish_reason: 'tool_calls' }] } }
  const asked = {
    model: 'kimi-k2',
    max_tokens: 9,
    tools: [{ name: 'Bash', input_schema: { type: 'object' as const, properties: { command: { type: 'string' } } } }],
  }
  const question = { role: 'user' as const, content: 'List.' }
  const { content } = await anthropic().messages.create({ ...asked, messages: [question] })
  const ids = content.flatMap((block) => (block.type === 'tool_use' ? [block.id] : []))
  expect(new Set(ids).size).toBe(2)
  for (const id of ids) expect(id).toMatch(/^[a-zA-Z0-9_-]+$/)

  const results = ids.map((id) => ({ type: 'tool_result' as const, tool_use_id: id, content: id }))
  const messages = [question, { role: 'assistant' as const, content }, { role: 'user' as const, content: results }]
  await anthropic().messages.create({ ...asked, messages })
  expect(provider.got.body.messages).toMatchObject([
    { role: 'user' },
    { role: 'assistant', tool_calls: calls },
    { role: 'tool', tool_call_id: 'functions.Bash:0' },
    { role: 'tool', tool_call_id: 'functions.Bash:1' },
  ])
})

async function failure(call: Promise<unknown>): Promise<unknown> {
  try {
    await call
  } catch (error) {
    return error
  }
  throw new Error('it did not fail')
}

test.each<[status: number, openAiError: unknown, anthropicError: unknown]>([
  [400, OpenAI.BadRequestError, Anthropic.BadRequestError],
  [401, OpenAI.AuthenticationError, Anthropic.AuthenticationError],
  [403, OpenAI.PermissionDeniedError, Anthropic.PermissionDeniedError],
  [404, OpenAI.NotFoundError, Anthropic.NotFoundError],
  [429, OpenAI.RateLimitError, Anthropic.RateLimitError],
  [500, OpenAI.InternalServerError, Anthropic.InternalServerError],
])('clients raise their own error for %d', async (status, openAiError, anthropicError) => {
  const headers = { 'retry-after': '7' }
  provider.answer = { status, headers, body: { type: 'error', error: { type: 'x', message: 'Sorry.' } } }
  const asked = openai().chat.completions.create({
    model: 'claude-opus-5',
    messages: [{ role: 'user', content: 'Hi.' }],
  })
  const one = await failure(asked)
  expect(one).toBeInstanceOf(openAiError)
  expect((one as InstanceType<typeof OpenAI.APIError>).message).toContain('Sorry.')
  expect((one as InstanceType<typeof OpenAI.APIError>).headers?.get('retry-after')).toBe('7')

  provider.answer = { status, headers, body: { error: { message: 'Sorry.', type: 'x', code: 'y', param: null } } }
  const four = await failure(
    anthropic().messages.create({ model: 'gpt-4o', max_tokens: 9, messages: [{ role: 'user', content: 'Hi.' }] }),
  )
  expect(four).toBeInstanceOf(anthropicError)
  expect(four).toMatchObject({ apiMessage: 'Sorry.', errorCode: 'y' })
})

test.each<[what: string, stream: string, message: string]>([
  [
    'is cut',
    eventStream(START, { type: 'content_block_start', index: 0, content_block: { type: 'text', text: 'Hel' } }),
    'ended before',
  ],
  [
    'has an error',
    eventStream(START, { type: 'error', error: { type: 'overloaded_error', message: 'Busy.' } }),
    'Busy.',
  ],
])('a stream that %s is an error for the client', async (_, stream, message) => {
  provider.answer = { body: stream }
  const asked = openai().chat.completions.stream({
    model: 'claude-opus-5',
    messages: [{ role: 'user', content: 'Hi.' }],
  })
  expect(String(await failure(asked.finalChatCompletion()))).toContain(message)
})

test('a request that cannot be translated is the fault of the client, with the place', async () => {
  const asked = anthropic().messages.create({
    model: 'gpt-4o',
    max_tokens: 9,
    messages: [{ role: 'user', content: 'News?' }],
    tools: [{ type: 'web_search_20250305', name: 'web_search' }],
  })
  const error = await failure(asked)
  expect(error).toBeInstanceOf(Anthropic.BadRequestError)
  const { message } = error as InstanceType<typeof Anthropic.APIError>
  expect(message).toContain('tools[0]: the provider of this request does not support web search with this model')
  expect(message).toContain('the setting transformations of backend.ai can remove it')
})
