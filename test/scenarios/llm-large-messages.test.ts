import { createServer } from 'node:http'
import type { AddressInfo } from 'node:net'
import { json } from 'node:stream/consumers'
import { afterAll, beforeAll, expect, test } from 'vitest'
import { freePort } from '#test/support/free-port.ts'
import { startGateway } from '#test/support/gateway.ts'
import { createObjectsFolder, gatewayYaml, joinYaml, routeYaml } from '#test/support/objects-folder.ts'
import { policyYaml } from '#test/support/policy-yaml.ts'

// Requests and answers of the largest number of parts, and of the smallest parts, from a client of chat completions to a provider of messages.

const event = (more: { type: string }) => `event: ${more.type}\ndata: ${JSON.stringify(more)}\n\n`
const start = (block: object) =>
  event({
    ...{ type: 'message_start' },
    ...{
      message: { id: 'm', type: 'message', role: 'assistant', model: 'm', content: [], usage: { input_tokens: 1 } },
    },
  }) + event({ ...{ type: 'content_block_start' }, ...{ index: 0, content_block: block } })
const delta = (of: object) => event({ ...{ type: 'content_block_delta' }, ...{ index: 0, delta: of } })
const END =
  event({ ...{ type: 'content_block_stop' }, ...{ index: 0 } }) +
  event({ ...{ type: 'message_delta' }, ...{ delta: { stop_reason: 'end_turn' }, usage: { output_tokens: 5 } } }) +
  event({ type: 'message_stop' })
const LARGE = JSON.stringify({ text: 'x'.repeat(1_000_000) })
const call = { type: 'tool_use', id: 'a', name: 't', input: {} }

/** What the provider streams, in one write, by model. */
const STREAMS: Readonly<Record<string, string>> = {
  'tiny-texts': start({ type: 'text', text: '' }) + delta({ type: 'text_delta', text: 'a' }).repeat(10_000) + END,
  'one-input': start(call) + delta({ type: 'input_json_delta', partial_json: LARGE }) + END,
  'tiny-inputs':
    start(call) +
    [...LARGE.slice(0, 10_000)].map((letter) => delta({ type: 'input_json_delta', partial_json: letter })).join('') +
    END,
}

interface Body {
  readonly model: string
  readonly tools?: readonly unknown[]
  readonly messages: readonly { readonly content: string | readonly { readonly input?: unknown }[] }[]
}

const stops = new AsyncDisposableStack()
afterAll(() => stops.disposeAsync())
let url: string
let received: Body

beforeAll(async () => {
  const server = createServer(async (request, response) => {
    received = (await json(request)) as Body
    response.writeHead(200, { 'content-type': 'text/event-stream' })
    response.end(STREAMS[received.model] ?? STREAMS['tiny-texts'])
  })
  await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve))
  stops.defer(() => {
    server.closeAllConnections()
    server.close()
  })
  const { port: at } = server.address() as AddressInfo
  const port = await freePort()
  const backend = {
    ...{ apiVersion: 'gatewright.dev/v1alpha1', kind: 'ProxyBackend', metadata: { name: 'model' } },
    spec: { ai: { provider: { providerFour: {}, host: '127.0.0.1', port: at } } },
  }
  const objects = joinYaml(
    gatewayYaml(port),
    `\n${JSON.stringify(backend)}\n`,
    routeYaml('model', '/', 'model'),
    policyYaml('large', 'Gateway', 'main', { frontend: { http: { maxBufferSize: '4Mi' } } }),
  )
  const folder = await createObjectsFolder({ 'objects.yaml': objects })
  stops.defer(folder.remove)
  stops.use(await startGateway({ files: [folder.path], workers: 1 }))
  url = `http://127.0.0.1:${port}/v1/chat/completions`
})

function ask(body: object): Promise<Response> {
  const headers = { 'content-type': 'application/json' }
  return fetch(url, { method: 'POST', headers, body: JSON.stringify({ model: 'm', stream: true, ...body }) })
}

interface Chunk {
  readonly choices: readonly {
    readonly delta: { content?: string; tool_calls?: { function: { arguments?: string } }[] }
  }[]
}

/** The text and the arguments of a stream. */
async function read(response: Response): Promise<string> {
  const lines = (await response.text()).split('\n').filter((line) => line.startsWith('data: {'))
  const deltas = lines.map((line) => (JSON.parse(line.slice(6)) as Chunk).choices[0]?.delta)
  return deltas.map((each) => each?.content ?? each?.tool_calls?.[0]?.function.arguments ?? '').join('')
}

const hi = { role: 'user', content: 'hi' }

test('ten thousand tools', async () => {
  const tools = Array.from({ length: 10_000 }, (_, i) => ({
    ...{ type: 'function', function: { name: `tool-${i}`, parameters: { type: 'object', properties: {} } } },
  }))
  const response = await ask({ messages: [hi], tools })
  expect(response.status).toBe(200)
  expect(await read(response)).toHaveLength(10_000)
  expect(received.tools).toHaveLength(10_000)
})

test('a hundred thousand parts; more than are read: 400 says so', async () => {
  const content = (length: number) => Array.from({ length }, () => ({ type: 'text', text: 'a' }))
  const response = await ask({ messages: [{ role: 'user', content: content(100_000) }] })
  expect(response.status).toBe(200)
  await response.text()
  expect(received.messages[0]!.content).toHaveLength(100_000)
  // Three of each part: the object and its two members.
  const refused = await ask({ messages: [{ role: 'user', content: content(120_000) }] })
  expect(refused.status).toBe(400)
  expect(await refused.text()).toContain('more than 350000')
})

test('arguments of a megabyte in a request', async () => {
  const called = { id: 'a', type: 'function', function: { name: 't', arguments: LARGE } }
  const result = { role: 'tool', tool_call_id: 'a', content: 'done' }
  const response = await ask({ messages: [hi, { role: 'assistant', content: null, tool_calls: [called] }, result] })
  expect(response.status).toBe(200)
  await response.text()
  expect(received.messages[1]!.content).toMatchObject([{ input: JSON.parse(LARGE) }])
})

test.each([
  ['tiny-texts', 'a'.repeat(10_000)],
  ['one-input', LARGE],
  ['tiny-inputs', LARGE.slice(0, 10_000)],
])('%s in one read of a stream', async (model, text) => {
  const response = await ask({ model, messages: [hi] })
  expect((await read(response)) === text).toBe(true)
})
