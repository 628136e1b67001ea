import { createServer, type IncomingMessage, type ServerResponse } from 'node:http'
import type { AddressInfo } from 'node:net'
import { json } from 'node:stream/consumers'
import { Client, StreamableHTTPClientTransport } from '@modelcontextprotocol/client'
import OpenAI from 'openai'
import { afterAll, beforeAll, expect, test } from 'vitest'
import { startWeather } from '#examples/upstreams/mcp.ts'
import { eventually } from '#test/support/eventually.ts'
import { freePort } from '#test/support/free-port.ts'
import { startGateway, type TestGateway } from '#test/support/gateway.ts'
import { createObjectsFolder, gatewayYaml, joinYaml, routeYaml } from '#test/support/objects-folder.ts'
import { policyYaml } from '#test/support/policy-yaml.ts'
import { verifies } from '#test/support/verifies.ts'

const stops = new AsyncDisposableStack()
let gateway: TestGateway
let port: number

const backend = (name: string, spec: object) => `
apiVersion: gatewright.dev/v1alpha1
kind: ProxyBackend
metadata: { name: ${name} }
spec: ${JSON.stringify(spec)}
`

/** A provider that counts, or says "yes" and calls a tool, in one piece or in several, as it is asked. */
async function answer(incoming: IncomingMessage, response: ServerResponse): Promise<void> {
  if (incoming.url?.endsWith('/count_tokens')) {
    response.setHeader('content-type', 'application/json')
    return void response.end('{"input_tokens":42}')
  }
  const { stream } = (await json(incoming)) as { readonly stream?: boolean }
  const chunk = (delta: object, finish: string | null = null) => ({
    id: 'c',
    model: 'm-1',
    choices: [{ index: 0, delta, finish_reason: finish }],
  })
  const call = (part: object) => ({ tool_calls: [{ index: 0, ...part }] })
  if (stream === true) {
    response.setHeader('content-type', 'text/event-stream')
    const events = [
      chunk({ role: 'assistant', content: '' }),
      chunk({ content: 'ye' }),
      chunk({ content: 's' }),
      chunk(call({ id: 'call-1', type: 'function', function: { name: 'forecast', arguments: '{"city":' } })),
      chunk(call({ function: { arguments: '"Oslo"}' } })),
      chunk({}, 'tool_calls'),
    ]
    for (const event of events) response.write(`data: ${JSON.stringify(event)}\n\n`)
    return void response.end('data: [DONE]\n\n')
  }
  const tool = { id: 'call-1', type: 'function', function: { name: 'forecast', arguments: '{"city":"Oslo"}' } }
  const message = { role: 'assistant', content: 'yes', tool_calls: [tool] }
  response.setHeader('content-type', 'application/json')
  const usage = { prompt_tokens: 5, completion_tokens: 3, total_tokens: 8 }
  const choices = [{ index: 0, message, finish_reason: 'tool_calls' }]
  response.end(JSON.stringify({ id: 'c', model: 'm-1', choices, usage }))
}

const READ = {
  prompt: 'llm.prompt',
  completion: 'llm.completion',
  calls: 'llm.toolCalls',
  heat: 'llm.params.temperature',
  count: 'llm.countTokens',
  given: 'mcp.tool.arguments',
  result: 'mcp.tool.result',
  failure: 'mcp.tool.error',
}

const FACTS = [
  { name: 'x-model', value: 'llm.responseModel' },
  { name: 'x-total', value: 'string(llm.totalTokens)' },
]
const SIZE = { name: 'x-size', value: 'string(size(response.body))' }

beforeAll(async () => {
  const weather = await startWeather({ port: 0 })
  stops.defer(() => weather.close())
  const provider = createServer((incoming, response) => void answer(incoming, response))
  stops.defer(() => void provider.close())
  await new Promise<void>((resolve) => provider.listen(0, '127.0.0.1', resolve))
  const { port: providerPort } = provider.address() as AddressInfo
  const at = { host: '127.0.0.1', port: providerPort }
  const typed = (type: string) => ({ ai: { routes: { '*': type } } })
  port = await freePort()
  const add = Object.entries(READ).map(([name, expression]) => ({ name, expression }))
  const folder = await createObjectsFolder({
    'all.yaml': joinYaml(
      gatewayYaml(port),
      backend('models', { ai: { provider: { providerOne: {}, ...at } } }),
      backend('unknown', { ai: { provider: { providerOne: {}, ...at } }, policies: typed('Detect') }),
      backend('counting', { ai: { provider: { providerFour: {}, ...at } }, policies: typed('MessagesTokenCount') }),
      backend('tools', {
        mcp: { targets: [{ name: 'weather', static: { host: '127.0.0.1', port: Number(new URL(weather.url).port) } }] },
      }),
      routeYaml('llm', '/v1', 'models'),
      routeYaml('unknown', '/unknown', 'unknown'),
      routeYaml('counting', '/counting', 'counting'),
      policyYaml('limit', 'HTTPRoute', 'unknown', {
        traffic: { rateLimit: { local: [{ tokens: 8, unit: 'Hours' }] } },
      }),
      routeYaml('read', '/read', 'models'),
      policyYaml('read', 'HTTPRoute', 'read', { traffic: { transformation: { response: { set: [...FACTS, SIZE] } } } }),
      routeYaml('unread', '/unread', 'models'),
      policyYaml('unread', 'HTTPRoute', 'unread', { traffic: { transformation: { response: { set: FACTS } } } }),
      routeYaml('mcp', '/mcp', 'tools'),
      policyYaml('all', 'Gateway', 'main', { frontend: { accessLog: { attributes: { add } } } }),
    ),
  })
  stops.defer(folder.remove)
  gateway = stops.use(
    await startGateway({
      files: [folder.path],
      workers: 1,
      environment: { GATEWRIGHT_LOG_FORMAT: 'json' },
    }),
  )
})

afterAll(() => stops.disposeAsync())

async function lineWith(text: string): Promise<Record<string, unknown>> {
  const line = await eventually('the line is written', () =>
    gateway.output.stdout.split('\n').find((written) => written.includes(text)),
  )
  return JSON.parse(line!) as Record<string, unknown>
}

test.each([
  ['read', 'm-1', '8'],
  ['unread', null, null],
])('facts of an answer whose body is %s by response policies', async (path, model, total) => {
  const response = await fetch(`http://127.0.0.1:${port}/${path}/chat/completions`, {
    method: 'POST',
    headers: { 'content-type': 'application/json' },
    body: JSON.stringify({ model: 'm', messages: messages('facts?') }),
  })
  expect(response.status).toBe(200)
  expect([response.headers.get('x-model'), response.headers.get('x-total')]).toEqual([model, total])
})

const messages = (content: string) => [{ role: 'user' as const, content }]

verifies(
  ['frontend.accessLog/attributes', 'logTracingAttributes/add'],
  'log expressions can read the content of a chat, streamed or not',
  async () => {
    const client = new OpenAI({ apiKey: 'k', baseURL: `http://127.0.0.1:${port}/v1`, maxRetries: 0 })
    const asked = { model: 'm', temperature: 0.5 }
    const whole = await client.chat.completions.create({ ...asked, messages: messages('whole?') })
    const stream = await client.chat.completions.create({ ...asked, messages: messages('streamed?'), stream: true })
    let streamed = ''
    for await (const { choices } of stream) streamed += choices[0]?.delta.content ?? ''
    expect([whole.choices[0]?.message.content, streamed]).toEqual(['yes', 'yes'])

    for (const content of ['whole?', 'streamed?']) {
      expect(await lineWith(content)).toMatchObject({
        prompt: [{ role: 'user', content }],
        completion: ['yes'],
        calls: [{ id: 'call-1', name: 'forecast', arguments: { city: 'Oslo' } }],
        heat: 0.5,
        'gen_ai.request.temperature': 0.5,
      })
    }
  },
)

const ask = (path: string, content: string) =>
  fetch(`http://127.0.0.1:${port}${path}`, {
    method: 'POST',
    headers: { 'content-type': 'application/json' },
    body: JSON.stringify({ model: 'm', max_tokens: 1, messages: messages(content) }),
  })

verifies(
  ['llm.routes/detect-metadata', 'traffic.rateLimit.local/tokens-both'],
  'unchanged responses are read for the log and for limits',
  async () => {
    expect((await ask('/unknown', 'as it is?')).status).toBe(200)
    expect(await lineWith('as it is?')).toMatchObject({
      completion: ['yes'],
      'gen_ai.request.model': 'm',
      'gen_ai.response.model': 'm-1',
      'gen_ai.usage.input_tokens': 5,
      'gen_ai.usage.output_tokens': 3,
    })
    // Neither the 5 tokens of the prompt nor the 3 of the completion alone reach the limit of 8.
    expect((await ask('/unknown', 'again?')).status).toBe(429)
  },
)

verifies('llm.routes/messages-token-count', 'a token count goes to its path, and does not count as usage', async () => {
  expect(await (await ask('/counting', 'how many?')).json()).toEqual({ input_tokens: 42 })
  const line = await lineWith('how many?')
  expect(line).toMatchObject({ count: 42, prompt: messages('how many?') })
  expect(Object.keys(line)).not.toContain('gen_ai.usage.input_tokens')
})

test('log expressions can read arguments and results of a tool', async () => {
  const client = new Client({ name: 'test', version: '1' })
  await client.connect(new StreamableHTTPClientTransport(new URL(`http://127.0.0.1:${port}/mcp`)))
  stops.defer(() => client.close())
  await client.callTool({ name: 'alerts', arguments: { city: 'Oslo' } })
  const line = await lineWith('no alerts for Oslo')
  expect(line).toMatchObject({
    'gen_ai.tool.name': 'alerts',
    given: { city: 'Oslo' },
    result: { content: [{ type: 'text', text: 'no alerts for Oslo' }] },
  })
  expect(Object.keys(line)).not.toContain('failure')

  await client.callTool({ name: 'unknown', arguments: { city: 'Bergen' } }).catch(() => {})
  expect((await lineWith('Bergen')).given).toEqual({ city: 'Bergen' })
  const initialised = gateway.output.stdout.split('\n').find((text) => text.includes('"initialize"'))!
  expect(Object.keys(JSON.parse(initialised))).not.toContain('given')
})

test('the content appears only in the log', async () => {
  await lineWith('Bergen')
  const decisions = await (await fetch(`${gateway.url(15_000)}/decisions`)).text()
  expect(decisions).toContain('/v1/chat/completions')
  for (const said of ['whole?', 'streamed?', 'yes', 'Oslo', 'Bergen']) expect(decisions).not.toContain(said)
})
