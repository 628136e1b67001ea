import OpenAI from 'openai'
import type { ResponseInputItem, ResponseStreamEvent } from 'openai/resources/responses/responses'
import { afterAll, beforeAll, expect, test } from 'vitest'
import {
  type AnsweringProvider,
  eventStream,
  providerYaml,
  startAnsweringProvider,
} from '#test/support/answering-provider.ts'
import { freePort } from '#test/support/free-port.ts'
import { startGateway } from '#test/support/gateway.ts'
import { createObjectsFolder, gatewayYaml, joinYaml, routeYaml } from '#test/support/objects-folder.ts'

// The vendor's own client of the responses API reaches providers that do not have it, and one that has it, but answers in the form that was not asked for.

const stops = new AsyncDisposableStack()
let provider: AnsweringProvider
let port: number

const ROUTES = { '/responses': 'Responses' }

beforeAll(async () => {
  provider = stops.use(await startAnsweringProvider())
  port = await freePort()
  const objects = await createObjectsFolder({
    'all.yaml': joinYaml(
      gatewayYaml(port),
      providerYaml('four', 'providerFour', provider.port, ROUTES),
      providerYaml('five', 'providerFive', provider.port, ROUTES),
      providerYaml('one', 'providerOne', provider.port, ROUTES),
      routeYaml('to-one', '/one/responses', 'one'),
      routeYaml('to-four', '/four/responses', 'four'),
      routeYaml('to-five', '/five/responses', 'five'),
    ),
  })
  stops.defer(objects.remove)
  const gateway = await startGateway({ files: [objects.path], workers: 1 })
  stops.defer(async () => void (await gateway.close()))
})

afterAll(() => stops.disposeAsync())

const client = (path: string) => new OpenAI({ baseURL: `http://127.0.0.1:${port}${path}`, apiKey: 'k', maxRetries: 0 })

const THINKING_MODEL = 'claude-sonnet-4-5'
const WEATHER = {
  type: 'function' as const,
  name: 'weather',
  strict: null,
  parameters: { type: 'object', properties: { city: { type: 'string' } } },
}
const QUESTION: ResponseInputItem = { role: 'user', content: 'Is it raining in Oslo?' }
const ASKED = {
  model: THINKING_MODEL,
  instructions: 'Be brief.',
  reasoning: { effort: 'high' as const, summary: 'auto' as const },
  max_output_tokens: 10_000,
  tools: [WEATHER],
}
const START = {
  type: 'message_start',
  message: { id: 'msg_1', model: 'claude-x', content: [], usage: { input_tokens: 7, output_tokens: 1 } },
}
const delta = (index: number, type: string, member: object) => ({
  type: 'content_block_delta',
  index,
  delta: { type, ...member },
})
const begin = (index: number, block: object) => ({ type: 'content_block_start', index, content_block: block })
const stop = (index: number) => ({ type: 'content_block_stop', index })
const THINKS_AND_CALLS = [
  START,
  begin(0, { type: 'thinking', thinking: '', signature: '' }),
  delta(0, 'thinking_delta', { thinking: 'I must' }),
  delta(0, 'thinking_delta', { thinking: ' look.' }),
  delta(0, 'signature_delta', { signature: 'sig/+==' }),
  stop(0),
  begin(1, { type: 'redacted_thinking', data: 'hidden==' }),
  stop(1),
  begin(2, { type: 'text', text: '' }),
  delta(2, 'text_delta', { text: 'I look.' }),
  stop(2),
  begin(3, { type: 'tool_use', id: 't1', name: 'weather', input: {} }),
  delta(3, 'input_json_delta', { partial_json: '{"city":' }),
  delta(3, 'input_json_delta', { partial_json: '"Oslo"}' }),
  stop(3),
  { type: 'message_delta', delta: { stop_reason: 'tool_use' }, usage: { output_tokens: 9 } },
  { type: 'message_stop' },
]
const RAINS = {
  id: 'msg_2',
  type: 'message',
  role: 'assistant',
  model: 'claude-x',
  content: [{ type: 'text', text: 'Yes.' }],
  stop_reason: 'end_turn',
  usage: { input_tokens: 20, cache_read_input_tokens: 5, output_tokens: 2 },
}

test('a stream with thoughts and a call, then the result and all items sent back', async () => {
  provider.answer = { body: eventStream(...THINKS_AND_CALLS) }
  const events: ResponseStreamEvent[] = []
  const stream = client('/four').responses.stream({ ...ASKED, input: [QUESTION] })
  stream.on('event', (event) => events.push(event))
  const response = await stream.finalResponse()

  expect(provider.got.path).toBe('/v1/messages')
  expect(response).toMatchObject({
    status: 'completed',
    model: 'claude-x',
    instructions: 'Be brief.',
    output_text: 'I look.',
    output: [
      { type: 'reasoning', summary: [{ type: 'summary_text', text: 'I must look.' }] },
      { type: 'reasoning', summary: [] },
      { type: 'message', status: 'completed' },
      { type: 'function_call', call_id: 't1', name: 'weather', arguments: '{"city":"Oslo"}', status: 'completed' },
    ],
    usage: { input_tokens: 7, output_tokens: 9, total_tokens: 16 },
  })
  expect(events.map((event) => event.sequence_number)).toEqual(events.map((_, index) => index))
  expect(events.at(-1)?.type).toBe('response.completed')

  provider.answer = { body: RAINS }
  const result: ResponseInputItem = { type: 'function_call_output', call_id: 't1', output: 'Rain.' }
  const said = response.output as readonly ResponseInputItem[]
  const next = await client('/four').responses.create({ ...ASKED, store: false, input: [QUESTION, ...said, result] })

  expect(provider.got.body).toMatchObject({
    system: [{ type: 'text', text: 'Be brief.' }],
    thinking: { type: 'enabled', budget_tokens: 4096, display: 'summarized' },
    messages: [
      { role: 'user', content: [{ type: 'text', text: 'Is it raining in Oslo?' }] },
      {
        role: 'assistant',
        content: [
          { type: 'thinking', thinking: 'I must look.', signature: 'sig/+==' },
          { type: 'redacted_thinking', data: 'hidden==' },
          { type: 'text', text: 'I look.' },
          { type: 'tool_use', id: 't1', name: 'weather', input: { city: 'Oslo' } },
        ],
      },
      {
        role: 'user',
        content: [{ type: 'tool_result', tool_use_id: 't1', content: [{ type: 'text', text: 'Rain.' }] }],
      },
    ],
  })
  expect(next.output_text).toBe('Yes.')
  expect(next.usage).toEqual({
    input_tokens: 25,
    input_tokens_details: { cached_tokens: 5, cache_write_tokens: 0 },
    output_tokens: 2,
    output_tokens_details: { reasoning_tokens: 0 },
    total_tokens: 27,
  })
})

test('calls that overlap upstream follow each other, also those of tools that take a text', async () => {
  const chunk = (members: object, rest: object = {}) =>
    `data: ${JSON.stringify({ id: 'c', model: 'm', choices: [{ index: 0, delta: members, ...rest }] })}\n\n`
  const call = (index: number, name: string) => ({
    index,
    id: `c${index}`,
    type: 'function',
    function: { name, arguments: '' },
  })
  const piece = (index: number, text: string) => chunk({ tool_calls: [{ index, function: { arguments: text } }] })
  provider.answer = {
    body: [
      chunk({ tool_calls: [call(0, 'weather'), call(1, 'run')] }),
      piece(1, '{"input":"print(\\"'),
      piece(0, '{"city":"Oslo"}'),
      piece(1, 'a\\")"}'),
      chunk({}, { finish_reason: 'tool_calls' }),
      'data: [DONE]\n\n',
    ].join(''),
  }
  const stream = client('/five').responses.stream({
    model: 'gemini-2.5-flash',
    input: 'Run it.',
    tools: [WEATHER, { type: 'custom', name: 'run', description: 'Runs Python.' }],
  })
  const { output } = await stream.finalResponse()
  expect(output).toMatchObject([
    { type: 'function_call', call_id: 'c0', name: 'weather', arguments: '{"city":"Oslo"}' },
    { type: 'custom_tool_call', call_id: 'c1', name: 'run', input: 'print("a")' },
  ])
  expect(provider.got.body).toMatchObject({ messages: [{ role: 'user', content: 'Run it.' }], stream: true })
})

test('parsed output, and an answer that reaches the limit', async () => {
  provider.answer = { body: { ...RAINS, content: [{ type: 'text', text: '{"rains":true}' }] } }
  const format = {
    type: 'json_schema' as const,
    name: 'weather',
    schema: { type: 'object', properties: { rains: { type: 'boolean' } } },
  }
  const parsed = await client('/four').responses.parse({ model: 'claude-opus-5', input: 'Rain?', text: { format } })
  expect(parsed.output_parsed).toEqual({ rains: true })
  expect(provider.got.body).toMatchObject({ output_config: { format: { type: 'json_schema', schema: format.schema } } })

  provider.answer = { body: { ...RAINS, stop_reason: 'max_tokens' } }
  const cut = await client('/four').responses.create({ model: 'claude-opus-5', input: 'Rain?' })
  expect(cut).toMatchObject({
    status: 'incomplete',
    incomplete_details: { reason: 'max_output_tokens' },
    output: [{ type: 'message', status: 'incomplete' }],
  })
})

async function failure(call: Promise<unknown>): Promise<unknown> {
  try {
    await call
  } catch (error) {
    return error
  }
  throw new Error('it did not fail')
}

test.each<[status: number, type: string, raised: unknown]>([
  [400, 'invalid_request_error', OpenAI.BadRequestError],
  [401, 'authentication_error', OpenAI.AuthenticationError],
  [429, 'rate_limit_error', OpenAI.RateLimitError],
  [529, 'overloaded_error', OpenAI.InternalServerError],
])('the client raises its own error for %d', async (status, type, raised) => {
  const headers = { 'retry-after': '7' }
  provider.answer = { status, headers, body: { type: 'error', error: { type, message: 'Sorry.' } } }
  const error = await failure(client('/four').responses.create({ model: 'claude-opus-5', input: 'Hi.' }))
  expect(error).toBeInstanceOf(raised)
  expect(String(error)).toContain('Sorry.')
  expect((error as InstanceType<typeof OpenAI.APIError>).headers?.get('retry-after')).toBe('7')
})

test.each<[what: string, events: readonly { readonly type: string }[], code: string, message: string]>([
  ['is cut', THINKS_AND_CALLS.slice(0, 4), 'server_error', 'ended before'],
  [
    'has an error',
    [
      ...THINKS_AND_CALLS.slice(0, 4),
      { type: 'error', error: { type: 'rate_limit_error', message: 'Slow.' } } as never,
    ],
    'rate_limit_exceeded',
    'Slow.',
  ],
])('a stream that %s is a failed response', async (_, sent, code, message) => {
  provider.answer = { body: eventStream(...sent) }
  const stream = await client('/four').responses.create({ ...ASKED, input: 'Hi.', stream: true })
  const events: ResponseStreamEvent[] = []
  for await (const event of stream) events.push(event)
  const last = events.at(-1)
  expect(last).toMatchObject({
    type: 'response.failed',
    response: { status: 'failed', error: { code, message: expect.stringContaining(message) } },
  })
})

test('a search of the web is one of Claude, and its citations come back', async () => {
  const cited = { type: 'web_search_result_location', url: 'https://a.test/b', title: 'A', cited_text: 'Rain.' }
  provider.answer = {
    body: eventStream(
      START,
      begin(0, { type: 'server_tool_use', id: 'srvtoolu_1', name: 'web_search', input: {} }),
      delta(0, 'input_json_delta', { partial_json: '{"query":"Oslo"}' }),
      stop(0),
      begin(1, { type: 'web_search_tool_result', tool_use_id: 'srvtoolu_1', content: [{ type: 'web_search_result' }] }),
      stop(1),
      begin(2, { type: 'text', text: '', citations: [] }),
      delta(2, 'citations_delta', { citation: cited }),
      delta(2, 'text_delta', { text: 'It rains.' }),
      stop(2),
      { type: 'message_delta', delta: { stop_reason: 'end_turn' }, usage: { output_tokens: 9 } },
      { type: 'message_stop' },
    ),
  }
  const tools = [{ type: 'web_search' as const, filters: { allowed_domains: ['a.test'] } }, WEATHER]
  const asked = { model: THINKING_MODEL, input: [QUESTION], tools, stream: true as const }
  const events: ResponseStreamEvent[] = []
  for await (const event of await client('/four').responses.create(asked)) events.push(event)
  expect(provider.got.body.tools).toMatchObject([
    { type: 'web_search_20250305', name: 'web_search', allowed_domains: ['a.test'] },
    { name: 'weather' },
  ])
  expect(events.at(-1)).toMatchObject({
    type: 'response.completed',
    response: {
      output: [
        {
          type: 'message',
          content: [
            { text: 'It rains.', annotations: [{ type: 'url_citation', url: 'https://a.test/b', title: 'A' }] },
          ],
        },
      ],
    },
  })
})

test.each<[what: string, body: object, message: string]>([
  ['an earlier response', { input: 'Hi.', previous_response_id: 'resp_1' }, 'previous_response_id: '],
  ['a hosted tool', { input: 'Hi.', tools: [{ type: 'code_interpreter' }] }, 'tools[0]: '],
  [
    'a result without call',
    { input: [{ type: 'function_call_output', call_id: 'x', output: '' }] },
    'input[0].call_id: ',
  ],
])('%s is the fault of the client, with the place', async (_, body, message) => {
  const asked = client('/four').responses.create({ model: 'claude-opus-5', ...body } as {
    model: string
    input: string
  })
  const error = await failure(asked)
  expect(error).toBeInstanceOf(OpenAI.BadRequestError)
  expect(String(error)).toContain(message)
})

test('a provider of the same API that answers in the form that was not asked for is refused with the cause', async () => {
  provider.answer = { body: { id: 'resp_1', object: 'response', status: 'completed', output: [] } }
  const stream = client('/one').responses.create({ model: 'gpt-5', input: 'Rain?', stream: true })
  const error = await failure(stream)
  expect(error).toBeInstanceOf(OpenAI.InternalServerError)
  expect(String(error)).toContain('the provider sent a stream instead of a whole answer, or the reverse')
})
