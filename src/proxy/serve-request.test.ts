import { getEventListeners } from 'node:events'
import { afterEach, expect, test } from 'vitest'
import { Calls } from '#calls/calls.ts'
import { listenerItem, livePlan, routeItem } from '#engine/testing.ts'
import { listen } from '#net/accept/listener.ts'
import { BodyMemory } from '#net/body/body-memory.ts'
import { createClientPool } from '#net/pool/client-pool.ts'
import { answering, RawServer } from '#net/testing/raw-peers.ts'
import { workerWheel } from '#net/timer-wheel.ts'
import { DecisionIds } from '#observe/decision-ids.ts'
import type { Observer } from '#observe/observer.ts'
import type { BackendItem } from '#plan/item.ts'
import { LocalOnceMemory } from '#state/once-memory.ts'
import { eventually } from '#test/support/eventually.ts'
import { testSealer } from '#test/support/test-sealer.ts'
import { BackendFacts } from './backend-facts.ts'
import { Load } from './load.ts'
import { Mirrors } from './mirrors.ts'
import { Receiver } from './receive.ts'

const stops = new AsyncDisposableStack()
afterEach(() => stops.disposeAsync())

const EVENTS = 'HTTP/1.1 200 OK\r\ncontent-type: text/event-stream\r\ntransfer-encoding: chunked\r\n\r\n'
const INITIALIZED = { protocolVersion: '2025-06-18', capabilities: {}, serverInfo: { name: 't', version: '1' } }

/** An MCP server whose notification streams end at once, except those requested with `last-event-id: stay`. */
async function startTarget(): Promise<number> {
  const answer = (head: string, body: string) => {
    if (head.includes('last-event-id: stay')) return EVENTS
    if (head.startsWith('GET ')) return `${EVENTS}0\r\n\r\n`
    const { id } = JSON.parse(body) as { id?: number | string }
    if (id === undefined) return 'HTTP/1.1 202 Accepted\r\ncontent-length: 0\r\n\r\n'
    const text = JSON.stringify({ jsonrpc: '2.0', id, result: INITIALIZED })
    const fields = `content-type: application/json\r\nmcp-session-id: s\r\ncontent-length: ${text.length}`
    return `HTTP/1.1 200 OK\r\n${fields}\r\n\r\n${text}`
  }
  const server = await new RawServer(answering(answer)).start()
  stops.defer(() => server.close())
  return server.port
}

async function startGateway(target: number, draining: AbortSignal): Promise<string> {
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
  const { plan, socket } = livePlan(listenerItem(), route, backend)
  const pool = createClientPool()
  stops.defer(() => pool.close())
  const observer: Pick<Observer, 'ended' | 'bug'> = { ended: () => {}, bug: (_, error) => console.error(error) }
  const bodyMemory = new BodyMemory(Number.POSITIVE_INFINITY)
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
      load: new Load({ add: () => {} }),
      facts: new BackendFacts(() => {}),
      bodyMemory,
      sealer: testSealer(),
      once: new LocalOnceMemory(),
      draining,
      random: Math.random,
      now: () => performance.now(),
    },
    socket,
  )
  const listener = await listen({ host: '127.0.0.1', port: 0, handler })
  stops.defer(() => listener.close())
  return `http://127.0.0.1:${listener.port}/mcp`
}

test('ended notification streams leave no listeners on the drain signal', async () => {
  const draining = new AbortController()
  const url = await startGateway(await startTarget(), draining.signal)
  const open = (session: string, more: Record<string, string> = {}) =>
    fetch(url, { headers: { accept: 'text/event-stream', 'mcp-session-id': session, ...more } })
  const initialize = await fetch(url, {
    method: 'POST',
    headers: { 'content-type': 'application/json', accept: 'application/json, text/event-stream' },
    body: JSON.stringify({
      jsonrpc: '2.0',
      id: 1,
      method: 'initialize',
      params: { protocolVersion: '2025-06-18', capabilities: {}, clientInfo: { name: 'c', version: '1' } },
    }),
  })
  const session = initialize.headers.get('mcp-session-id') ?? ''
  await initialize.text()
  const watching = () => getEventListeners(draining.signal, 'abort').length

  for (let i = 0; i < 20; i++) {
    const stream = await open(session)
    expect(`${stream.status} ${await stream.text()}`).toBe('200 ')
  }
  await eventually('the ended ones are forgotten', () => watching() === 0)

  const left = await open(session, { 'last-event-id': 'stay' })
  expect(watching()).toBe(1)
  await left.body?.cancel()
  await eventually('the one whose client left is forgotten', () => watching() === 0)

  const drained = await open(session, { 'last-event-id': 'stay' })
  draining.abort()
  expect(await drained.text()).toBe('')
})
