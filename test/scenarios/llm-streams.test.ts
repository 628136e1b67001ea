import { once } from 'node:events'
import { createServer, request, type ServerResponse } from 'node:http'
import { type AddressInfo, connect } from 'node:net'
import { afterAll, beforeAll, expect, test } from 'vitest'
import { modelsYaml } from '#test/support/chat-provider.ts'
import { eventually } from '#test/support/eventually.ts'
import { freePort } from '#test/support/free-port.ts'
import { startGateway, type TestGateway } from '#test/support/gateway.ts'
import { createObjectsFolder, gatewayYaml, joinYaml, routeYaml } from '#test/support/objects-folder.ts'
import { policyYaml } from '#test/support/policy-yaml.ts'

const stops = new AsyncDisposableStack()
let gateway: TestGateway
let port: number
/** Responses of the provider that have not ended. */
const open = new Set<ServerResponse>()
/** Requests that get no answer. */
let silent = 0

const chunk = (content: string) => `data: ${JSON.stringify({ choices: [{ index: 0, delta: { content } }] })}\n\n`
const OVERLOADED = 'data: { "error": {"type":"overloaded_error","message":"secret words"}}\n\n'

/** A provider that begins to stream and never ends, answers nothing, or reports an error in its stream; by the model. */
async function startProvider(): Promise<number> {
  const server = createServer((incoming, response) => {
    let body = ''
    incoming.on('data', (piece) => {
      body += piece
    })
    incoming.on('end', () => {
      const { model } = JSON.parse(body)
      open.add(response)
      response.on('close', () => open.delete(response))
      if (model === 'silent') silent++
      if (model === 'silent') return
      response.setHeader('content-type', 'text/event-stream')
      if (model === 'failing') response.end(chunk('one') + OVERLOADED)
      else response.write(chunk('one two three four five six seven eight nine ten').repeat(3))
    })
  })
  await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve))
  stops.defer(() => new Promise((resolve) => void server.close(() => resolve())))
  stops.defer(async () => server.closeAllConnections())
  return (server.address() as AddressInfo).port
}

beforeAll(async () => {
  const provider = await startProvider()
  port = await freePort()
  const tokens = { unit: 'Hours', tokens: 30, key: 'request.headers["x-caller"]' }
  const objects = await createObjectsFolder({
    'all.yaml': joinYaml(
      gatewayYaml(port),
      modelsYaml('models', provider),
      routeYaml('chat', '/v1', 'models'),
      policyYaml('chat', 'HTTPRoute', 'chat', { traffic: { rateLimit: { local: [tokens] } } }),
    ),
  })
  stops.defer(objects.remove)
  gateway = await startGateway({ files: [objects.path], workers: 1 })
  stops.defer(async () => void (await gateway.close()))
})

afterAll(() => stops.disposeAsync())

interface Sent {
  /** 0: the client left before a response. */
  readonly status: number
  readonly text: string
}

/** @param until the client leaves when it has received this text, or as soon as the provider has the request */
function ask(caller: string, body: object, until?: string): Promise<Sent> {
  return new Promise((resolve) => {
    const headers = { 'x-caller': caller, 'content-type': 'application/json' }
    const sent = request({
      host: '127.0.0.1',
      port,
      path: '/v1/chat/completions',
      method: 'POST',
      headers,
      agent: false,
    })
    sent.on('response', (response) => {
      let text = ''
      response.on('data', (piece) => {
        text += piece
        if (until !== undefined && text.includes(until)) sent.destroy()
      })
      response.on('close', () => resolve({ status: response.statusCode ?? 0, text }))
    })
    sent.on('error', () => resolve({ status: 0, text: '' }))
    sent.end(JSON.stringify(body))
    if (until === '') eventually('the provider has it', () => silent > 0 || undefined).then(() => sent.destroy())
  })
}

const prompt = (text: string, rest: object = {}) => ({
  model: 'm',
  stream: true,
  messages: [{ role: 'user', content: text }],
  ...rest,
})

test.each<[dodge: string, body: object, until: string]>([
  ['leaves during the stream', prompt('Hi'), 'ten'],
  ['switches usage off and leaves', prompt('Hi', { stream_options: { include_usage: false } }), 'ten'],
  ['leaves before the response', prompt('word '.repeat(100), { model: 'silent' }), ''],
])('a caller that %s has spent its tokens', async (dodge, body, until) => {
  await eventually('no other request', () => open.size === 0 || undefined)
  expect([200, 0]).toContain((await ask(dodge, body, until)).status)
  // It has no model: 400 as long as there are tokens, and it spends none.
  await eventually('429', async () => (await ask(dodge, {})).status === 429 || undefined)
})

test('a client that closes its connection while no event flows ends the request at the provider', async () => {
  await eventually('no other request', () => open.size === 0 || undefined)
  const body = JSON.stringify(prompt('Hi', { model: 'silent' }))
  const head = `POST /v1/chat/completions HTTP/1.1\r\nhost: a\r\nx-caller: closes\r\ncontent-length: ${body.length}\r\n\r\n`
  // Only its direction: the socket stays open, so only the end of the direction can be what ends the request.
  const socket = connect({ port, host: '127.0.0.1', allowHalfOpen: true })
  const isClosed = once(socket.resume(), 'close')
  socket.write(head + body)
  await eventually('the provider has it', () => open.size === 1 || undefined)
  socket.end()
  await eventually('the provider is told', () => open.size === 0 || undefined)
  await isClosed
})

test('an error event of the provider is in the log and in the metrics, without its text', async () => {
  const { status, text } = await ask('other', prompt('Hi', { model: 'failing' }))
  expect([status, text]).toEqual([200, chunk('one') + OVERLOADED])
  const line = await eventually('a line', () =>
    gateway.output.stdout.split('\n').find((each) => each.includes('overloaded_error')),
  )
  expect(line).toContain('error.type=overloaded_error')
  expect(line).toContain('error="the provider\'s response failed: overloaded_error"')
  expect(line).toContain('reason=UpstreamFailure')
  expect(line).not.toContain('secret words')
  const metrics = await (await fetch(`${gateway.url(15020)}/metrics`)).text()
  expect(metrics).toMatch(/stream_errors_total\{error_type="overloaded_error",.* 1$/m)
})
