import { connect } from 'node:net'
import { afterEach, beforeEach, expect, test } from 'vitest'
import { Calls } from '#calls/calls.ts'
import { listenerItem, livePlan, matchOf, policyItem, routeItem } from '#engine/testing.ts'
import { uncountedGuardLoad } from '#exchange/guard-load.ts'
import { NO_PRICES } from '#exchange/llm-prices.ts'
import { listen } from '#net/accept/listener.ts'
import { BodyMemory } from '#net/body/body-memory.ts'
import { createClientPool } from '#net/pool/client-pool.ts'
import { answering, RawServer } from '#net/testing/raw-peers.ts'
import { workerWheel } from '#net/timer-wheel.ts'
import { DecisionIds } from '#observe/decision-ids.ts'
import type { Observer } from '#observe/observer.ts'
import type { BackendItem } from '#plan/item.ts'
import { LocalChannels } from '#state/channels.ts'
import { createLoadMemory, Load } from '#state/load.ts'
import { LocalTable } from '#state/shared-table.ts'
import { eventually } from '#test/support/eventually.ts'
import { testSealer } from '#test/support/test-sealer.ts'
import { BackendFacts } from './backend-facts.ts'
import { CutOff } from './cut-off.ts'
import { EndlessStreams } from './endless-streams.ts'
import { Mirrors } from './mirrors.ts'
import { Receiver } from './receive.ts'

let stops: AsyncDisposableStack
beforeEach(() => {
  stops = new AsyncDisposableStack()
})
afterEach(() => stops.disposeAsync())

const EVENTS = 'HTTP/1.1 200 OK\r\ncontent-type: text/event-stream\r\ntransfer-encoding: chunked\r\n\r\n'
const INITIALIZED = { protocolVersion: '2025-06-18', capabilities: {}, serverInfo: { name: 't', version: '1' } }

/** More events than the buffers of both connections hold. */
const FLOOD = `${EVENTS}${Array.from({ length: 256 }, () => {
  const event = `data: {"jsonrpc":"2.0","method":"notifications/x","params":{"text":"${'x'.repeat(65_536)}"}}\n\n`
  return `${event.length.toString(16)}\r\n${event}\r\n`
}).join('')}`

/** An MCP server that answers no tool call but floods one, and whose notification streams end at once, except those requested with `last-event-id: stay`. */
async function startTarget(): Promise<number> {
  const answer = (head: string, body: string) => {
    if (head.includes('last-event-id: stay')) return EVENTS
    if (head.startsWith('GET ')) return `${EVENTS}0\r\n\r\n`
    const { id, method, params } = JSON.parse(body) as {
      id?: number | string
      method: string
      params?: { name?: string }
    }
    if (params?.name === 'flood') return FLOOD
    if (method === 'tools/call') return ''
    if (id === undefined) return 'HTTP/1.1 202 Accepted\r\ncontent-length: 0\r\n\r\n'
    const text = JSON.stringify({ jsonrpc: '2.0', id, result: INITIALIZED })
    const fields = `content-type: application/json\r\nmcp-session-id: s\r\ncontent-length: ${text.length}`
    return `HTTP/1.1 200 OK\r\n${fields}\r\n\r\n${text}`
  }
  const server = await new RawServer(answering(answer)).start()
  stops.defer(() => server.close())
  return server.port
}

async function startGateway(
  target: number,
  draining: AbortSignal,
  {
    endless = new EndlessStreams(draining),
    channels = new LocalChannels('w1'),
    bodyMemory = new BodyMemory(Number.POSITIVE_INFINITY),
  } = {},
): Promise<string> {
  const backend: BackendItem = {
    kind: 'backend',
    key: 'ProxyBackend/default/m',
    namespace: 'default',
    name: 'm',
    type: 'mcp',
    spec: { targets: [{ name: 'one', entry: 'one', host: '127.0.0.1', port: target }], sessionRouting: 'Stateful' },
    broken: undefined,
    origin: { kind: 'ProxyBackend', namespace: 'default', name: 'm' },
  }
  const route = routeItem('r', { backends: [{ backend: backend.key, weight: 1, path: '' }] })
  const hasty = routeItem('hasty', { matches: [matchOf('prefix /hasty')], backends: route.backends })
  const timeout = policyItem('traffic.timeouts', 'HTTPRoute/default/hasty', { request: '300ms' })
  const { plan, socket } = livePlan(listenerItem(), route, hasty, timeout, backend)
  const pool = createClientPool()
  stops.defer(() => pool.close())
  const observer: Pick<Observer, 'ended' | 'bug'> = { ended: () => {}, bug: (_, error) => console.error(error) }
  const calls = new Calls({
    pool,
    bodyMemory,
    random: Math.random,
    backend: () => undefined,
    failed: () => {},
    ended: () => {},
  })
  const handler = new Receiver(
    {
      decisionIds: new DecisionIds(),
      gateway: undefined,
      workloads: plan.workloads,
      index: plan.index,
      pool,
      calls,
      mirrors: new Mirrors(calls),
      wheel: workerWheel,
      observer: observer as Observer,
      load: new Load({ add: () => {} }, createLoadMemory(1), 0),
      guardLoad: uncountedGuardLoad(),
      facts: new BackendFacts(() => {}),
      prices: NO_PRICES,
      bodyMemory,
      heapIsFull: false,
      recordBodyBytes: 0,
      sealer: testSealer(),
      table: new LocalTable(),
      channels,
      toolsChanged: () => {},
      draining,
      endless,
      cutOff: new CutOff(),
      random: Math.random,
      now: () => performance.now(),
    },
    socket,
  )
  const listener = await listen({ host: '127.0.0.1', port: 0, handler })
  stops.defer(() => listener.close())
  return `http://127.0.0.1:${listener.port}`
}

function post(url: string, message: object, session?: string): Promise<Response> {
  return fetch(url, {
    method: 'POST',
    headers: {
      'content-type': 'application/json',
      accept: 'application/json, text/event-stream',
      ...(session === undefined ? {} : { 'mcp-session-id': session }),
    },
    body: JSON.stringify({ jsonrpc: '2.0', ...message }),
  })
}

async function initialize(url: string): Promise<string> {
  const params = { protocolVersion: '2025-06-18', capabilities: {}, clientInfo: { name: 'c', version: '1' } }
  const response = await post(url, { id: 1, method: 'initialize', params })
  await response.text()
  return response.headers.get('mcp-session-id') ?? ''
}

function openStream(url: string, session: string, more: Record<string, string> = {}): Promise<Response> {
  return fetch(url, { headers: { accept: 'text/event-stream', 'mcp-session-id': session, ...more } })
}

test('the timeout of a request ends a call that its target does not answer, and closes streams', async () => {
  const url = await startGateway(await startTarget(), new AbortController().signal)
  const session = await initialize(`${url}/mcp`)
  const hasty = `${url}/hasty`
  const late = await post(hasty, { id: 2, method: 'tools/call', params: { name: 't' } }, session)
  expect(`${late.status} ${await late.text()}`).toBe('504 request timeout')
  const stream = await openStream(hasty, session, { 'last-event-id': 'stay' })
  expect(stream.status).toBe(200)
  await expect(stream.text()).rejects.toThrow()
})

test('notification streams end when the worker drains, and ended ones are forgotten', async () => {
  const draining = new AbortController()
  const endless = new EndlessStreams(draining.signal)
  const url = `${await startGateway(await startTarget(), draining.signal, { endless })}/mcp`
  const session = await initialize(url)
  const open = (more?: Record<string, string>) => openStream(url, session, more)
  for (let i = 0; i < 20; i++) {
    const stream = await open()
    expect(`${stream.status} ${await stream.text()}`).toBe('200 ')
  }
  await eventually('the ended ones are forgotten', () => endless.size === 0)

  const left = await open({ 'last-event-id': 'stay' })
  expect(endless.size).toBe(1)
  await left.body?.cancel()
  await eventually('the one whose client left is forgotten', () => endless.size === 0)

  const drained = await open({ 'last-event-id': 'stay' })
  draining.abort()
  expect(await drained.text()).toBe('')
})

test('a call whose client leaves while it is behind with reading is over', async () => {
  const channels = new LocalChannels('w1')
  const bodyMemory = new BodyMemory(Number.POSITIVE_INFINITY)
  const draining = new AbortController()
  const url = `${await startGateway(await startTarget(), draining.signal, { channels, bodyMemory })}/mcp`
  const session = await initialize(url)
  const { host } = new URL(url)
  const body = JSON.stringify({ jsonrpc: '2.0', id: 2, method: 'tools/call', params: { name: 'flood' } })
  const fields = `host: ${host}\r\naccept: application/json, text/event-stream\r\ncontent-type: application/json\r\nmcp-session-id: ${session}`
  const socket = connect(Number(host.split(':')[1]), '127.0.0.1').on('error', () => {})
  socket.write(`POST /mcp HTTP/1.1\r\n${fields}\r\ncontent-length: ${body.length}\r\n\r\n${body}`)
  socket.pause()
  await eventually('the call is in flight', () => channels.openChannels.length === 1)
  await eventually('the client is behind', () => bodyMemory.heldBytes > 200_000)
  socket.destroy()
  // A worker that drains does not wait for a late cancellation.
  draining.abort()
  await eventually('the call is over', () => channels.openChannels.length === 0)
})
