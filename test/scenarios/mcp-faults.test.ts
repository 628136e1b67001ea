import { createServer, type IncomingMessage, type ServerResponse } from 'node:http'
import type { AddressInfo } from 'node:net'
import { afterAll, beforeAll, expect, test } from 'vitest'
import { freePort } from '#test/support/free-port.ts'
import { startGateway, type TestGateway } from '#test/support/gateway.ts'
import { createObjectsFolder, gatewayYaml, type ObjectsFolder } from '#test/support/objects-folder.ts'
import { PassingTime } from '#test/support/passing-time.ts'

/** Targets that misbehave in every phase of a session, and a gateway that is restarted under its clients. */

type Method = 'initialize' | 'tools/list' | 'tools/call'
/** GET opens the stream of notifications, DELETE ends the session. */
type Phase = Method | 'GET' | 'DELETE'
type Fault = (response: ServerResponse, id: number, right: object) => void

const KEY = '00112233445566778899aabbccddeeff00112233445566778899aabbccddeeff'
const stream = (response: ServerResponse) => response.writeHead(200, { 'content-type': 'text/event-stream' })
const json = (response: ServerResponse, body: string) =>
  response.writeHead(200, { 'content-type': 'application/json', 'mcp-session-id': 's' }).end(body)
const event = (message: object) => `data: ${JSON.stringify(message)}\n\n`
const answer = (id: number, result: object) => ({ jsonrpc: '2.0', id, result })

/** What a target does instead of responding, and whether the client gets the right result all the same. */
const FAULTS: Readonly<Record<string, { readonly does: Fault; readonly isRight?: true }>> = {
  'closes the connection': { does: (response) => void response.socket?.destroy() },
  // Its time limit is over at once.
  'never responds': { does: () => time.skip(2000) },
  'breaks off within an event': {
    does: (response) => void stream(response).write('data: {"jsonrpc"', () => response.socket?.destroy()),
  },
  'ends the stream without a response': { does: (response) => void stream(response).end() },
  'sends no JSON': { does: (response) => void json(response, '<html>') },
  'sends an event that is no message': { does: (response) => void stream(response).end('data: hello\n\n') },
  'responds with a list': { does: (response) => void json(response, '[]') },
  'responds to another request': {
    does: (response, id, right) => void stream(response).end(event(answer(id + 1, right))),
  },
  'responds with status 500': { does: (response) => void response.writeHead(500).end('no') },
  'redirects to another server': {
    does: (response) => void response.writeHead(307, { location: 'http://192.0.2.1/mcp' }).end(),
  },
  'responds twice': {
    does: (response, id, right) => {
      stream(response.setHeader('mcp-session-id', 's'))
      response.end(event(answer(id, right)) + event(answer(id, { content: [{ type: 'text', text: 'forged' }] })))
    },
    isRight: true,
  },
  'sends a thousand notifications first': {
    does: (response, id, right) => {
      stream(response.setHeader('mcp-session-id', 's'))
      const note = event({ jsonrpc: '2.0', method: 'notifications/message', params: { level: 'info', data: 'x' } })
      response.end(note.repeat(1000) + event(answer(id, right)))
    },
    isRight: true,
  },
}

const RIGHT: Readonly<Record<Method, object>> = {
  initialize: {
    protocolVersion: '2025-06-18',
    capabilities: { tools: {}, logging: {} },
    serverInfo: { name: 'faulty', version: '1' },
  },
  'tools/list': { tools: [{ name: 'x', inputSchema: { type: 'object' } }] },
  'tools/call': { content: [{ type: 'text', text: 'right' }] },
}

let fault: { readonly phase: Phase; readonly does: Fault } | undefined
/** The sessions that the gateway has ended. */
let deleted = 0

async function serve(request: IncomingMessage, response: ServerResponse): Promise<void> {
  const body = Buffer.concat((await request.toArray()) as Buffer[]).toString()
  const { id, method } = JSON.parse(body || '{}') as { id?: number; method?: Method }
  if (request.method === 'DELETE') deleted++
  if (fault !== undefined && fault.phase === request.method) return fault.does(response, 7, RIGHT['tools/call'])
  if (id === undefined || method === undefined || RIGHT[method] === undefined) return void response.writeHead(202).end()
  if (fault?.phase === method) return fault.does(response, id, RIGHT[method])
  json(response, JSON.stringify(answer(id, RIGHT[method])))
}

const stops = new AsyncDisposableStack()
const time = stops.use(new PassingTime())
const port = await freePort()
const url = `http://127.0.0.1:${port}/`
let folder: ObjectsFolder
let gateway: TestGateway

const start = () => startGateway({ files: [folder.path], workers: 2, environment: { SESSION_KEY: KEY } })

beforeAll(async () => {
  const target = createServer((request, response) => void serve(request, response).catch(() => response.destroy()))
  await new Promise<void>((resolve) => target.listen(0, '127.0.0.1', resolve))
  stops.defer(() => {
    target.closeAllConnections()
    target.close()
  })
  folder = await createObjectsFolder({
    'gateway.yaml': gatewayYaml(port),
    'mcp.yaml': `
apiVersion: gatewright.dev/v1alpha1
kind: ProxyBackend
metadata: { name: faulty }
spec:
  mcp:
    targets:
      - { name: faulty, static: { host: 127.0.0.1, port: ${(target.address() as AddressInfo).port} } }
  policies:
    http: { requestTimeout: 2s }
---
apiVersion: gateway.networking.k8s.io/v1
kind: HTTPRoute
metadata: { name: faulty }
spec:
  parentRefs: [{ name: main }]
  rules:
    - backendRefs: [{ group: gatewright.dev, kind: ProxyBackend, name: faulty }]
`,
  })
  stops.defer(folder.remove)
  gateway = await start()
  stops.defer(async () => void (await gateway.close()))
})

afterAll(() => stops.disposeAsync())

interface Received {
  readonly status: number
  readonly text: string
  readonly sessionId: string | null
}

async function post(method: Method, session: string | undefined): Promise<Received> {
  const params =
    method === 'initialize'
      ? { protocolVersion: '2025-06-18', capabilities: {}, clientInfo: { name: 'test', version: '1' } }
      : { name: 'x' }
  const response = await fetch(url, {
    method: 'POST',
    headers: {
      accept: 'application/json, text/event-stream',
      'content-type': 'application/json',
      ...(session !== undefined && { 'mcp-session-id': session }),
    },
    body: JSON.stringify({ jsonrpc: '2.0', id: 7, method, params }),
  })
  return { status: response.status, text: await response.text(), sessionId: response.headers.get('mcp-session-id') }
}

async function begin(): Promise<string> {
  const { sessionId } = await post('initialize', undefined)
  if (sessionId === null) throw new Error('no session')
  return sessionId
}

for (const method of ['initialize', 'tools/list', 'tools/call'] as const) {
  test.each(Object.entries(FAULTS))(`${method}: a target that %s`, async (_, { does, isRight }) => {
    const session = method === 'initialize' ? undefined : await begin()
    fault = { phase: method, does }
    const received = await post(method, session).finally(() => {
      fault = undefined
    })
    if (isRight === true) {
      expect(received.text).toContain(JSON.stringify(RIGHT[method]).slice(1, 20))
      expect(received.text).not.toContain('forged')
    } else {
      expect(received.sessionId).toBeNull()
      expect(received.status === 200 ? received.text : String(received.status)).toMatch(/-32603|^5\d\d$/)
    }
    // Nothing else is disturbed.
    expect((await post('tools/call', session ?? (await begin()))).text).toContain('right')
  })
}

const inSession = (method: 'GET' | 'DELETE', session: string) =>
  fetch(url, { method, headers: { accept: 'text/event-stream', 'mcp-session-id': session } })

test.each(Object.entries(FAULTS))(
  'GET: a target that %s ends the stream of its client, and only that',
  async (name, { does }) => {
    const session = await begin()
    fault = { phase: 'GET', does }
    const response = await inSession('GET', session)
    const text = await response.text()
    fault = undefined
    // A response has no place here, whoever it is for.
    expect(text).not.toMatch(/forged|right/)
    if (response.status !== 200) expect(String(response.status)).toMatch(/^5\d\d$/)
    if (name.startsWith('sends a thousand')) expect(text.split('notifications/message')).toHaveLength(1001)
    expect((await post('tools/call', session)).text).toContain('right')
  },
)

test.each(Object.entries(FAULTS))('DELETE: a target that %s does not keep the session alive', async (_, { does }) => {
  const session = await begin()
  const before = deleted
  fault = { phase: 'DELETE', does }
  const { status } = await time.hurry(inSession('DELETE', session))
  fault = undefined
  // Where the connection is closed, the request is sent again: it may be repeated.
  expect([status, deleted > before]).toEqual([204, true])
  expect((await post('tools/call', session)).status).toBe(404)
  expect((await post('tools/call', await begin())).text).toContain('right')
})

test('sessions of 200 clients outlast a restart of the gateway', async () => {
  const sessions: string[] = []
  // In groups: a busy machine needs time for 200 at once.
  while (sessions.length < 200) sessions.push(...(await Promise.all(Array.from({ length: 10 }, begin))))
  await gateway.close()
  gateway = await start()
  const received: Received[] = []
  for (const session of sessions) received.push(await post('tools/call', session))
  expect(received.filter(({ text }) => text.includes('right'))).toHaveLength(200)
})
