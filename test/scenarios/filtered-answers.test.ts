import { createServer, type Server } from 'node:http'
import type { AddressInfo } from 'node:net'
import { afterAll, beforeAll, expect, test } from 'vitest'
import { startA2a } from '#examples/upstreams/a2a.ts'
import { startWeather } from '#examples/upstreams/mcp.ts'
import { eventually } from '#test/support/eventually.ts'
import { freePort } from '#test/support/free-port.ts'
import { startGateway, type TestGateway } from '#test/support/gateway.ts'
import { createObjectsFolder, gatewayYaml, joinYaml, routeYaml } from '#test/support/objects-folder.ts'
import { policyYaml } from '#test/support/policy-yaml.ts'

// What a protocol changes in an answer, it changes also where a policy waits for the whole of it.

const stops = new AsyncDisposableStack()
let gateway: TestGateway
let port: number
let broken = false

const EVENT = {
  id: 'c',
  object: 'chat.completion.chunk',
  model: 'm',
  choices: [{ index: 0, delta: { content: 'hi' } }],
}
const USAGE = { ...EVENT, choices: [], usage: { prompt_tokens: 3, completion_tokens: 2, total_tokens: 5 } }
const LAST = { ...EVENT, choices: [{ index: 0, delta: {}, finish_reason: 'stop' }] }

/** A model that streams, with its number of tokens, and breaks off when it is told to. */
async function startModel(): Promise<Server> {
  const server = createServer((_, response) => {
    response.writeHead(200, { 'content-type': 'text/event-stream' })
    const events = broken ? [EVENT] : [EVENT, LAST, USAGE]
    for (const event of events) response.write(`data: ${JSON.stringify(event)}\n\n`)
    if (broken) setTimeout(() => response.destroy(), 50)
    else response.end('data: [DONE]\n\n')
  })
  await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve))
  stops.defer(() => void server.close())
  return server
}

const backend = (name: string, spec: object) =>
  `\napiVersion: gatewright.dev/v1alpha1\nkind: ProxyBackend\nmetadata: { name: ${name} }\nspec: ${JSON.stringify(spec)}\n`

beforeAll(async () => {
  const model = await startModel()
  const agent = await startA2a({ port: 0 })
  stops.defer(agent.close)
  const weather = await startWeather({ port: 0 })
  stops.defer(weather.close)
  port = await freePort()
  const { port: modelPort } = model.address() as AddressInfo
  const reads = { response: { set: [{ name: 'x-size', value: 'string(size(response.body))' }] } }
  const replaces = { response: { body: '"replaced"' } }
  const folder = await createObjectsFolder({
    'all.yaml': joinYaml(
      gatewayYaml(port),
      backend('model', { ai: { provider: { providerOne: {}, host: '127.0.0.1', port: modelPort } } }),
      backend('agent', { a2a: { host: '127.0.0.1', port: agent.port } }),
      backend('tools', { mcp: { targets: [{ name: 'weather', static: { host: '127.0.0.1', port: weather.port } }] } }),
      routeYaml('model', '/v1', 'model'),
      routeYaml('agent', '/', 'agent'),
      routeYaml('tools', '/mcp', 'tools'),
      policyYaml('reads', 'Gateway', 'main', { traffic: { transformation: reads } }),
      policyYaml('replaces', 'HTTPRoute', 'tools', { traffic: { transformation: replaces } }),
    ),
  })
  stops.defer(folder.remove)
  gateway = stops.use(
    await startGateway({ files: [folder.path], workers: 1, environment: { GATEWRIGHT_LOG_FORMAT: 'json' } }),
  )
})

afterAll(() => stops.disposeAsync())

function chat(): Promise<Response> {
  const body = JSON.stringify({ model: 'm', stream: true, messages: [] })
  return fetch(`http://127.0.0.1:${port}/v1/chat/completions`, { method: 'POST', body })
}

function lineOf(path: string): Promise<Record<string, unknown>> {
  return eventually('the line is written', () => {
    const line = gateway.output.stdout.split('\n').findLast((written) => written.includes(`"http.path":"${path}"`))
    return line === undefined ? undefined : (JSON.parse(line) as Record<string, unknown>)
  }) as Promise<Record<string, unknown>>
}

test('an agent card leads through the gateway', async () => {
  const response = await fetch(`http://127.0.0.1:${port}/.well-known/agent-card.json`)
  const text = await response.text()
  expect(response.headers.get('x-size')).toBe(`${text.length}`)
  expect((JSON.parse(text) as { url: string }).url).toContain(`http://127.0.0.1:${port}`)
})

test('tokens are counted, and the client gets the response it asked for', async () => {
  const response = await chat()
  const text = await response.text()
  expect(response.headers.get('x-size')).toBe(`${text.length}`)
  expect(text).not.toContain('usage')
  expect(text).toContain('[DONE]')
  expect(await lineOf('/v1/chat/completions')).toMatchObject({
    'gen_ai.usage.input_tokens': 3,
    'gen_ai.usage.output_tokens': 2,
  })
})

test('a model that breaks off before anything was sent is a failure', async () => {
  broken = true
  const response = await chat()
  expect(response.status).toBe(503)
  expect(response.headers.get('gatewright-decision')).toBeTruthy()
})

test('the answer of an MCP backend can be replaced, a refusal keeps its own', async () => {
  const params = { protocolVersion: '2025-06-18', capabilities: {}, clientInfo: { name: 'c', version: '1' } }
  const answered = await fetch(`http://127.0.0.1:${port}/mcp`, {
    method: 'POST',
    headers: { 'content-type': 'application/json', accept: 'application/json, text/event-stream' },
    body: JSON.stringify({ jsonrpc: '2.0', id: 1, method: 'initialize', params }),
  })
  expect([answered.status, await answered.text()]).toEqual([200, 'replaced'])
  const refused = await fetch(`http://127.0.0.1:${port}/mcp`, { method: 'PUT' })
  expect([refused.status, await refused.text()]).toEqual([405, 'method not allowed'])
})
