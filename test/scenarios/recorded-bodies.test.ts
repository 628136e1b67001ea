import { createServer, type IncomingMessage, type ServerResponse } from 'node:http'
import type { AddressInfo } from 'node:net'
import { afterAll, beforeAll, expect, test } from 'vitest'
import { findingLines } from '#cli/finding-lines.ts'
import { loadPlan } from '#cli/load-plan.ts'
import { RawClient } from '#net/testing/raw-peers.ts'
import { FileStore } from '#store/files.ts'
import { eventually } from '#test/support/eventually.ts'
import { freePort } from '#test/support/free-port.ts'
import { startGateway, type TestGateway } from '#test/support/gateway.ts'
import {
  backendYaml,
  createObjectsFolder,
  gatewayYaml,
  joinYaml,
  type ObjectsFolder,
  routeYaml,
} from '#test/support/objects-folder.ts'
import { policyYaml } from '#test/support/policy-yaml.ts'
import { verifies } from '#test/support/verifies.ts'

/** Bytes of a body that are kept; not a power of two, nor of anything else. */
const LIMIT = 1000
const LETTERS = Array.from({ length: 200_000 }, (_, i) => String.fromCharCode(97 + (i % 26))).join('')

const stops = new AsyncDisposableStack()
let folder: ObjectsFolder
let gateway: TestGateway
let port: number
let failures = 0

const CHUNK = '{"id":"c","model":"m-1","choices":[{"index":0,"delta":{"content":"yes"},"finish_reason":"stop"}]}'
const USAGE = '{"id":"c","model":"m-1","choices":[],"usage":{"prompt_tokens":5,"completion_tokens":3,"total_tokens":8}}'

/** Streams the response of a provider, with its usage. */
function answerChat(response: ServerResponse): void {
  response.setHeader('content-type', 'text/event-stream')
  for (const event of [CHUNK, USAGE]) response.write(`data: ${event}\n\n`)
  response.end('data: [DONE]\n\n')
}

/** Echoes the body in pieces; `/retry` fails first, `/cut` breaks off. */
async function answer(incoming: IncomingMessage, response: ServerResponse): Promise<void> {
  const pieces = await incoming.toArray().catch(() => undefined)
  if (pieces === undefined) return
  const body = pieces.join('')
  if (incoming.url?.startsWith('/retry') && failures-- > 0) return void response.writeHead(503).end('later')
  if (incoming.url?.includes('/chat')) return answerChat(response)
  if (incoming.url?.startsWith('/cut')) {
    response.writeHead(200, { 'content-length': '100' }).write('only this')
    return void setTimeout(() => response.destroy(), 20)
  }
  response.setHeader('x-got', body.length)
  for (let at = 0; at < body.length; at += 7000) response.write(body.slice(at, at + 7000))
  response.end()
}

const mcpYaml = `
apiVersion: gatewright.dev/v1alpha1
kind: ProxyBackend
metadata: { name: tools }
spec:
  mcp: { targets: [{ name: one, static: { host: 127.0.0.1, port: 1 } }] }
`

const aiYaml = (port: number) => `
apiVersion: gatewright.dev/v1alpha1
kind: ProxyBackend
metadata: { name: models }
spec: { ai: { provider: { providerOne: {}, host: 127.0.0.1, port: ${port} } } }
`

const attributes = {
  add: [
    { name: 'tokens', expression: 'llm.totalTokens' },
    { name: 'sent', expression: 'string(request.body)' },
    { name: 'got', expression: 'string(response.body)' },
    { name: 'start', expression: 'size(request.bodyPrefix) + size(response.bodyPrefix)' },
  ],
}

beforeAll(async () => {
  const web = createServer((incoming, response) => void answer(incoming, response))
  stops.defer(() => void web.close())
  await new Promise<void>((resolve) => web.listen(0, '127.0.0.1', resolve))
  port = await freePort()
  const transformed = { request: { body: '"to the backend"' }, response: { body: '"to the client"' } }
  const text = { set: [{ name: 'x-start', value: 'string(request.bodyPrefix).substring(0, 3)' }] }
  folder = await createObjectsFolder({
    'all.yaml': joinYaml(
      gatewayYaml(port),
      backendYaml('web', (web.address() as AddressInfo).port),
      mcpYaml,
      aiYaml((web.address() as AddressInfo).port),
      routeYaml('chat', '/v1', 'models'),
      routeYaml('silent', '/v1/chat/completions/silent', 'models'),
      policyYaml('silent', 'HTTPRoute', 'silent', {
        traffic: { transformation: { response: { body: '"nothing"' } } },
        backend: { ai: { routes: { '*': 'Completions' } } },
      }),
      ...['plain', 'whole', 'prefix', 'changed', 'retry', 'cut', 'direct'].map((name) =>
        routeYaml(name, `/${name}`, 'web'),
      ),
      routeYaml('mcp', '/mcp', 'tools'),
      policyYaml('whole', 'HTTPRoute', 'whole', {
        traffic: { transformation: { request: { set: [{ name: 'x-size', value: 'string(size(request.body))' }] } } },
      }),
      policyYaml('prefix', 'HTTPRoute', 'prefix', { traffic: { transformation: { request: text } } }),
      policyYaml('changed', 'HTTPRoute', 'changed', { traffic: { transformation: transformed } }),
      policyYaml('retry', 'HTTPRoute', 'retry', { traffic: { retry: { codes: [503], attempts: 2 } } }),
      policyYaml('direct', 'HTTPRoute', 'direct', { traffic: { directResponse: { status: 418, body: 'a teapot' } } }),
      policyYaml('all', 'Gateway', 'main', {
        frontend: {
          http: { maxBufferSize: `${LIMIT}` },
          accessLog: { filter: '!string(default(response.body, b"")).startsWith("quiet")', attributes },
          metrics: { attributes: { add: [{ name: 'order_kind', expression: 'jsonField(request.body, "kind")' }] } },
        },
      }),
    ),
  })
  stops.defer(folder.remove)
  gateway = stops.use(
    await startGateway({ files: [folder.path], workers: 1, environment: { GATEWRIGHT_LOG_FORMAT: 'json' } }),
  )
})

afterAll(() => stops.disposeAsync())

let asked = 0

/** Sends one request and waits for its line. */
async function lineOf(path: string, body?: string, isChunked = false): Promise<Record<string, unknown>> {
  const target = `${path}?${++asked}`
  const pieces = isChunked ? new Blob([body!]).stream() : body
  const method = body === undefined ? 'GET' : 'POST'
  const init = { method, body: pieces, duplex: 'half' } as RequestInit
  const response = await fetch(`http://127.0.0.1:${port}${target}`, init)
  const text = await response.text().catch(() => 'broken')
  return { status: response.status, text, ...(await logged(target)) }
}

async function logged(target: string): Promise<Record<string, unknown>> {
  const line = await eventually('the line is written', () =>
    gateway.output.stdout.split('\n').find((text) => text.includes(`"${target}"`)),
  )
  return JSON.parse(line!) as Record<string, unknown>
}

for (const isChunked of [false, true]) {
  for (const size of [1, 500, LIMIT, LIMIT + 1, 150_000]) {
    verifies(
      ['frontend.http/maxBufferSize-only-needed', 'frontend.accessLog/attributes'],
      `a log sees the beginning of ${size} bytes ${isChunked ? 'in chunks' : 'with a length'}, and all of it goes on`,
      async () => {
        const body = LETTERS.slice(0, size)
        const cut = body.slice(0, LIMIT)
        const line = await lineOf('/plain', body, isChunked)
        expect(line).toMatchObject({ status: 200, text: body, sent: cut, got: cut, start: 2 * cut.length })
      },
    )
  }
}

test('a request without a body has an empty one', async () => {
  expect(await lineOf('/plain')).toMatchObject({ status: 200, sent: '', got: '', start: 0 })
})

test('a body that a policy reads whole is recorded; a refused one is not', async () => {
  expect(await lineOf('/whole', 'fits', true)).toMatchObject({ sent: 'fits', got: 'fits' })
  const refused = await lineOf('/whole', LETTERS, true)
  expect(refused).toMatchObject({ status: 413, got: refused.text })
  expect(refused).not.toHaveProperty('sent')
})

test('a body of which a policy reads the beginning', async () => {
  const cut = LETTERS.slice(0, LIMIT)
  expect(await lineOf('/prefix', LETTERS, true)).toMatchObject({ text: LETTERS, sent: cut, got: cut })
})

test('a body that a policy changed is the one that went on', async () => {
  const line = await lineOf('/changed', 'from the client')
  expect(line).toMatchObject({ text: 'to the client', sent: 'to the backend', got: 'to the client' })
})

test('a request that is sent again has one body, and the last answer', async () => {
  failures = 2
  expect(await lineOf('/retry', 'again')).toMatchObject({ sent: 'again', got: 'again', 'retry.attempt': 2 })
})

test('a response of the gateway itself: an unread request body is not recorded', async () => {
  const line = await lineOf('/direct', 'unread')
  expect(line).toMatchObject({ status: 418, got: 'a teapot' })
  expect(line).not.toHaveProperty('sent')
  const mcp = await lineOf('/mcp', 'no message')
  expect(mcp).toMatchObject({ status: 415, sent: 'no message', got: mcp.text })
  expect(mcp.text).not.toBe('')
})

test('of a provider stream, the record has the part that the client gets; a replaced one still counts as usage', async () => {
  const body = '{"model":"m","messages":[{"role":"user","content":"?"}],"stream":true}'
  const line = await lineOf('/v1/chat/completions', body)
  expect(line).toMatchObject({ status: 200, got: line.text, tokens: 8 })
  expect(line.sent).toContain('include_usage')
  expect(line.text).toContain(CHUNK)
  expect(line.text).not.toContain('total_tokens')
  expect(await lineOf('/v1/chat/completions/silent', body)).toMatchObject({
    text: 'nothing',
    got: 'nothing',
    tokens: 8,
  })
})

test('the record of an aborted response has the received part', async () => {
  expect(await lineOf('/cut', 'x')).toMatchObject({ text: 'broken', sent: 'x', got: 'only this' })
})

test('the record of an aborted request body has the received part', async () => {
  const client = await RawClient.connect(port)
  const target = `/plain?${++asked}`
  client.send(`POST ${target} HTTP/1.1\r\nhost: a\r\ncontent-length: 100\r\n\r\nhalf of`)
  await new Promise((resolve) => setTimeout(resolve, 100))
  client.socket.destroy()
  expect(await logged(target)).toMatchObject({ sent: 'half of' })
})

verifies(
  ['frontend.accessLog/filter', 'frontend.metrics/per-request'],
  'a filter and a label read bodies too',
  async () => {
    const quiet = `/plain?${++asked}`
    await fetch(`http://127.0.0.1:${port}${quiet}`, { method: 'POST', body: 'quiet please' })
    await lineOf('/plain', '{"kind": "order"}')
    expect(gateway.output.stdout).not.toContain(quiet)
    const metrics = await (await fetch(`${gateway.url(15_020)}/metrics`)).text()
    expect(metrics).toMatch(/gatewright_requests_total\{.*order_kind="order".*\} 1/)
  },
)

test('lint reports nothing', () => {
  const store = new FileStore([folder.path])
  expect(findingLines(store, loadPlan(store).findings).lines).toEqual([])
})
