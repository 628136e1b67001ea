import { getEventListeners } from 'node:events'
import { afterEach, beforeEach, expect, test } from 'vitest'
import { CalledBackends } from '#engine/backend/called-backends.ts'
import type { LiveBackend, LiveEndpoint } from '#engine/backend/live-backend.ts'
import { Decision, decide } from '#engine/request/decide.ts'
import {
  backendItem,
  type FieldName,
  indexOf,
  listenerItem,
  livePlan,
  policyItem,
  routeItem,
  stateOf,
} from '#engine/testing.ts'
import { CallError, type CallRequest, type CallResponse, type EndedCall } from '#exchange/call.ts'
import { afterwards, type Step } from '#exchange/step.ts'
import { BodyClaim, BodyMemory } from '#net/body/body-memory.ts'
import { createClientPool } from '#net/pool/client-pool.ts'
import type { ClientPool } from '#net/stream.ts'
import { answering, RawServer } from '#net/testing/raw-peers.ts'
import type { BackendItem } from '#plan/item.ts'
import { exchangeWith } from '#policies/shared/testing.ts'
import { eventually } from '#test/support/eventually.ts'
import { freePort } from '#test/support/free-port.ts'
import { Calls } from './calls.ts'
import { callForKeys, findIdp, IDP_KEY, type Policies } from './testing.ts'

let pool: ClientPool
let servers: RawServer[]
let bodyMemory: BodyMemory
let ended: EndedCall[]
/** The endpoint of the last backend. */
let target: LiveEndpoint

beforeEach(() => {
  bodyMemory = new BodyMemory(Number.POSITIVE_INFINITY)
  pool = createClientPool()
  servers = []
  ended = []
})
afterEach(() => {
  pool.close()
  for (const server of servers) server.close()
})

async function serve(...behaviour: ConstructorParameters<typeof RawServer>): Promise<number> {
  const server = await new RawServer(...behaviour).start()
  servers.push(server)
  return server.port
}

const KEY = 'ProxyBackend/default/m'

/** Calls of a request whose backend has one target `one` at this port. */
async function callsTo(port: number, policies: Policies = {}, host = '127.0.0.1', isShared = false) {
  const targets = [{ name: 'one', entry: 'one', host, port }]
  const backend: BackendItem = {
    kind: 'backend',
    key: KEY,
    namespace: 'default',
    name: 'm',
    type: 'mcp',
    spec: { targets, sessionRouting: 'Stateful' },
    broken: undefined,
    origin: { kind: 'ProxyBackend', namespace: 'default', name: 'm' },
  }
  const { plan, socket } = livePlan(
    listenerItem(),
    routeItem('r', { backends: [{ backend: KEY, weight: 1, path: '' }] }),
    backend,
    ...Object.entries(policies).map(([field, spec]) => policyItem(field as FieldName, `${KEY}/one`, spec)),
  )
  const decision = new Decision()
  const exchange = exchangeWith({ headers: { cookie: 'of the client' } })
  exchange.identity.jwt = { claims: { sub: 'alice' }, token: 't0ken' }
  await decide({ index: plan.index, socket, random: () => 0 }, exchange, decision)
  const calls = new Calls({
    pool,
    bodyMemory,
    random: () => 0,
    backend: () => undefined,
    failed: () => {},
    ended: (call) => ended.push(call),
  })
  const call = isShared
    ? calls.toSections(decision.backend!, undefined, undefined)
    : calls.toSections(decision.backend!, exchange, new BodyClaim(bodyMemory))
  target = decision.backend!.sections.get(`${KEY}/one`)![0]!
  return (more: Partial<CallRequest> = {}, destination = `${KEY}/one`) =>
    call(destination, {
      purpose: 'mcp',
      method: 'POST',
      path: '/mcp',
      headers: [['content-type', 'application/json']],
      body: new TextEncoder().encode('{}'),
      timeoutMs: 0,
      signal: new AbortController().signal,
      ...more,
    })
}

async function bodyOf({ body }: CallResponse): Promise<string> {
  return Buffer.concat(await Array.fromAsync(body)).toString()
}

/** Why a call failed. */
async function failureOf(pending: Promise<unknown>): Promise<string> {
  const error = await pending.then(
    () => undefined,
    (reason: unknown) => reason,
  )
  expect(error).toBeInstanceOf(CallError)
  return (error as CallError).failure
}

const ANSWER = 'HTTP/1.1 201 Created\r\nX-Kind: a\r\nx-kind: b\r\ncontent-length: 5\r\n\r\nhello'

test('calls for responses that requests share are those of the gateway itself', async () => {
  const heads: string[] = []
  const port = await serve(
    answering((head) => {
      heads.push(head)
      return ANSWER
    }),
  )
  const set = [
    { name: 'authorization', value: '"Bearer key"' },
    { name: 'x-user', value: 'jwt.sub' },
  ]
  const call = await callsTo(port, { 'backend.transformation': { request: { set } } } as never, undefined, true)
  const finish: CallRequest['finish'] = (head) => {
    head.set('x-api-key', head.get('authorization')!.slice(7))
    head.remove('authorization')
  }
  await bodyOf(await call({ finish }))
  expect(heads[0]).toContain('x-api-key: key\r\n')
  expect(heads[0]).not.toMatch(/authorization|x-user/)
})

test.each([
  [{}, true],
  [{ leavesHealth: true } as const, false],
])('a failed call with %j evicts its endpoint: %j', async (more, evicts) => {
  const port = await serve(answering(() => 'HTTP/1.1 500 Broken\r\ncontent-length: 0\r\n\r\n'))
  const call = await callsTo(port, { 'backend.health': { eviction: { duration: '1m' } } })
  await bodyOf(await call(more))
  expect(target.health.evicted).toBe(evicts)
})

test('a call: the request and the response', async () => {
  let sent = ''
  const port = await serve(
    answering((head, body) => {
      sent = head + body
      return ANSWER
    }),
  )
  const call = await callsTo(port)
  const response = await call()
  expect(sent).toBe(
    `POST /mcp HTTP/1.1\r\nhost: 127.0.0.1:${port}\r\ncontent-type: application/json\r\ncontent-length: 2\r\n\r\n{}`,
  )
  expect(response.status).toBe(201)
  expect(response.headers.slice(0, 2)).toEqual([
    ['x-kind', 'a'],
    ['x-kind', 'b'],
  ])
  expect([response.header('x-kind'), response.header('absent')]).toEqual(['a', undefined])
  expect(await bodyOf(response)).toBe('hello')
})

test('a call belongs to the trace of the request that causes it, unless it has its own', async () => {
  const heads: string[] = []
  const port = await serve(
    answering((head) => {
      heads.push(head)
      return ANSWER
    }),
  )
  const backend = findIdp([port])
  const calls = new Calls({ pool, bodyMemory, random: () => 0, backend, failed: () => {}, ended: () => {} })
  const trace = '00-0af7651916cd43dd8448eb211c80319c-b7ad6b7169203331-01'
  const callOf = (traceparent: string) => calls.ofRequest(exchangeWith({ headers: { traceparent } }), undefined)
  await bodyOf(await callForKeys(callOf(trace), IDP_KEY))
  await bodyOf(await callForKeys(callOf('00-1-2-03'), IDP_KEY))
  await bodyOf(await callForKeys(callOf(trace), IDP_KEY, { headers: [['traceparent', 'own']] }))
  expect(heads.map((head) => /^traceparent: (.*)\r$/m.exec(head)?.[1])).toEqual([trace, undefined, 'own'])
})

test('a target is evicted by its condition, and still used, because it has one endpoint', async () => {
  let status = 429
  const port = await serve(answering(() => `HTTP/1.1 ${status} Whatever\r\ncontent-length: 0\r\n\r\n`))
  const health = { unhealthyCondition: 'response.code == 429', eviction: { duration: '1h', consecutiveFailures: 2 } }
  const call = await callsTo(port, { 'backend.health': health })
  const states: [number, boolean][] = []
  for (const next of [429, 200, 429, 429, 200]) {
    status = next
    const response = await call()
    await bodyOf(response)
    states.push([response.status, target.health.evicted])
  }
  expect(states).toEqual([
    [429, false],
    [200, false],
    [429, false],
    [429, true],
    [200, true],
  ])
})

test('an answer in tiny chunks waits in bounded memory, is read in few pieces, and gives it back as it is read', async () => {
  const count = 500_000
  const port = await serve(
    answering(() => `HTTP/1.1 200 OK\r\ntransfer-encoding: chunked\r\n\r\n${'1\r\nx\r\n'.repeat(count)}0\r\n\r\n`),
  )
  const response = await (await callsTo(port))()
  let heldBytes = 0
  await eventually('no more comes', async () => {
    const before = heldBytes
    await new Promise((resolve) => setTimeout(resolve, 20))
    heldBytes = bodyMemory.heldBytes
    return heldBytes > 0 && heldBytes === before
  })
  expect(heldBytes).toBeLessThanOrEqual(2 * 262_144)
  const pieces = await Array.fromAsync(response.body)
  expect(pieces.length).toBeLessThan(500)
  expect(Buffer.concat(pieces).toString()).toBe('x'.repeat(count))
  expect(bodyMemory.heldBytes).toBe(0)
})

test('an answer that is given up gives its memory back', async () => {
  const port = await serve(answering(() => `HTTP/1.1 200 OK\r\ncontent-length: 9\r\n\r\nhello`))
  const { body } = await (await callsTo(port))()
  await eventually('it has begun to come', () => bodyMemory.heldBytes > 0)
  await body[Symbol.asyncIterator]().return?.()
  expect(bodyMemory.heldBytes).toBe(0)
})

test('a call without a body', async () => {
  let sent = ''
  const port = await serve(
    answering((head) => {
      sent = head
      return 'HTTP/1.1 204 No Content\r\n\r\n'
    }),
  )
  const response = await (await callsTo(port))({ method: 'GET', body: undefined, headers: [] })
  expect(sent).toBe(`GET /mcp HTTP/1.1\r\nhost: 127.0.0.1:${port}\r\n\r\n`)
  expect([response.status, await bodyOf(response)]).toEqual([204, ''])
})

test('backend policies of the target act on the call; they know the identity of the caller, but not its request', async () => {
  let sent = ''
  const port = await serve(
    answering((head) => {
      sent = head
      return ANSWER
    }),
  )
  const set = [
    { name: 'x-sub', value: 'jwt.sub' },
    { name: 'x-path', value: 'request.path' },
    { name: 'x-cookie', value: 'request.headers["cookie"]' },
    { name: 'x-start', value: 'string(request.startTime)' },
  ]
  const begunMs = Date.now()
  const call = await callsTo(port, { 'backend.transformation': { request: { set } }, 'backend.auth': { key: 'k3y' } })
  await bodyOf(await call())
  expect(sent).toContain('x-sub: alice\r\n')
  expect(sent).toContain('x-path: /mcp\r\n')
  expect(sent).toContain('authorization: Bearer k3y\r\n')
  expect(sent).not.toContain('cookie')
  // The clocks of both times may differ by a few milliseconds.
  expect(Date.parse(/x-start: (\S+)/.exec(sent)![1]!)).toBeGreaterThan(begunMs - 50)
})

test('a credential that is missing: nothing is sent', async () => {
  const port = await serve(() => {
    throw new Error('unexpected connection')
  })
  const call = await callsTo(port, { 'backend.auth': { secretRef: { name: 'gone' } } })
  expect(await failureOf(call())).toBe('backend-auth-failed')
  expect(servers[0]!.connections).toBe(0)
})

test('a destination that the backend does not have', async () => {
  const call = await callsTo(1)
  expect(await failureOf(call({}, `${KEY}/two`))).toBe('no-endpoint')
  expect(await failureOf(call({}, KEY))).toBe('no-endpoint')
})

test('a closed port', async () => {
  const call = await callsTo(await freePort())
  expect(await failureOf(call())).toBe('connection-refused')
})

test('no answer in time', async () => {
  const port = await serve(() => {})
  expect(await failureOf((await callsTo(port))({ timeoutMs: 50 }))).toBe('timeout')
  const limited = await callsTo(port, { 'backend.http': { requestTimeout: '50ms' } })
  expect(await failureOf(limited({ timeoutMs: 60_000 }))).toBe('timeout')
})

test('a connection that breaks before the answer, and an answer that is no HTTP', async () => {
  const resetting = await serve((peer) => peer.socket.once('data', () => peer.socket.resetAndDestroy()))
  expect(await failureOf((await callsTo(resetting))())).toBe('reset')
  const nonsense = await serve((peer) => peer.socket.once('data', () => peer.send('SSH-2.0-x\r\n\r\n')))
  expect(await failureOf((await callsTo(nonsense))())).toBe('protocol-error')
})

test('an answer that is cut off does not look complete', async () => {
  const port = await serve((peer) =>
    peer.socket.once('data', () => peer.socket.end('HTTP/1.1 200 OK\r\ncontent-length: 9\r\n\r\npart')),
  )
  const response = await (await callsTo(port))()
  await expect(bodyOf(response)).rejects.toThrow(CallError)
})

test('a streamed body is read as it arrives', async () => {
  const port = await serve((peer) =>
    peer.socket.once('data', () => {
      peer.send('HTTP/1.1 200 OK\r\ntransfer-encoding: chunked\r\n\r\n3\r\none\r\n')
      setImmediate(() => peer.send('3\r\ntwo\r\n0\r\n\r\n'))
    }),
  )
  expect(await bodyOf(await (await callsTo(port))())).toBe('onetwo')
})

test('without a reader the upstream is paused, and a later reader gets the whole body', async () => {
  const length = 24_000_000
  let unsent = () => length
  const port = await serve((peer) =>
    peer.socket.once('data', () => {
      peer.send(`HTTP/1.1 200 OK\r\ncontent-length: ${length}\r\n\r\n${'x'.repeat(length)}`)
      unsent = () => peer.socket.writableLength
    }),
  )
  const response = await (await callsTo(port))()
  for (let before = 0; unsent() !== before; ) {
    before = unsent()
    for (let turn = 0; turn < 100; turn++) await new Promise((resolve) => setImmediate(resolve))
  }
  expect(unsent()).toBeGreaterThan(0)
  let got = 0
  for await (const piece of response.body) got += piece.length
  expect(got).toBe(length)
})

test('a caller that gives up before, during and after the head', async () => {
  const silent = await serve(() => {})
  expect(await failureOf((await callsTo(silent))({ signal: AbortSignal.abort() }))).toBe('cancelled')
  const during = new AbortController()
  const pending = (await callsTo(silent))({ signal: during.signal })
  setImmediate(() => during.abort())
  expect(await failureOf(pending)).toBe('cancelled')

  const after = new AbortController()
  const begun = await serve((peer) =>
    peer.socket.once('data', () => peer.send('HTTP/1.1 200 OK\r\ncontent-length: 9\r\n\r\npart')),
  )
  const response = await (await callsTo(begun))({ signal: after.signal })
  const reading = bodyOf(response)
  after.abort()
  expect(await failureOf(reading)).toBe('cancelled')
})

test('a reader that stops early lets the connection go', async () => {
  const closed = Promise.withResolvers<void>()
  const port = await serve((peer) => {
    peer.socket.once('close', () => closed.resolve())
    peer.socket.once('end', () => peer.socket.end())
    peer.socket.once('data', () => peer.send('HTTP/1.1 200 OK\r\ntransfer-encoding: chunked\r\n\r\n3\r\none\r\n'))
  })
  const response = await (await callsTo(port))()
  for await (const piece of response.body) {
    expect(Buffer.from(piece).toString()).toBe('one')
    break
  }
  await closed.promise
})

test('calls that are over have left nothing on the signal of their request, however they ended', async () => {
  const { signal } = new AbortController()
  const whole = await callsTo(await serve(answering(() => ANSWER)))
  const cut = await callsTo(
    await serve((peer) =>
      peer.socket.once('data', () => peer.socket.end('HTTP/1.1 200 OK\r\ncontent-length: 9\r\n\r\npart')),
    ),
  )
  const switching = await callsTo(
    await serve(answering(() => 'HTTP/1.1 101 Switching Protocols\r\nconnection: upgrade\r\nupgrade: x\r\n\r\n')),
  )
  const refused = await callsTo(await freePort())
  for (let i = 0; i < 20; i++) {
    expect(await bodyOf(await whole({ signal }))).toBe('hello')
    await expect(bodyOf(await cut({ signal }))).rejects.toThrow(CallError)
    const { body } = await whole({ signal })
    await body[Symbol.asyncIterator]().return?.()
    expect(await failureOf(switching({ signal }))).toBe('protocol-error')
    expect(await failureOf(refused({ signal }))).toBe('connection-refused')
  }
  expect(getEventListeners(signal, 'abort')).toEqual([])
})

test('a call is observed with its purpose, its backend and its result', async () => {
  await bodyOf(await (await callsTo(await serve(answering(() => ANSWER))))())
  await failureOf((await callsTo(await freePort()))())
  await failureOf((await callsTo(1))({}, `${KEY}/two`))
  const cut = await callsTo(
    await serve((peer) =>
      peer.socket.once('data', () => peer.socket.end('HTTP/1.1 404 Gone\r\ncontent-length: 9\r\n\r\npart')),
    ),
  )
  await expect(bodyOf(await cut())).rejects.toThrow(CallError)
  expect(ended).toEqual([
    { purpose: 'mcp', backend: 'default/m', status: 201, failure: undefined, durationMs: expect.any(Number) },
    {
      purpose: 'mcp',
      backend: 'default/m',
      status: undefined,
      failure: 'connection-refused',
      durationMs: expect.any(Number),
    },
    { purpose: 'mcp', backend: 'default/m', status: undefined, failure: 'no-endpoint', durationMs: expect.any(Number) },
    { purpose: 'mcp', backend: 'default/m', status: 404, failure: 'reset', durationMs: expect.any(Number) },
  ])
})

test('a deadline ends a call before its head and within its body', async () => {
  const silent = await callsTo(await serve(() => {}))
  expect(await failureOf(silent({ deadlineMs: 50 }))).toBe('timeout')
  const slow = await callsTo(
    await serve((peer) =>
      peer.socket.once('data', () => peer.send('HTTP/1.1 200 OK\r\ncontent-length: 9\r\n\r\npart')),
    ),
  )
  expect(await failureOf(bodyOf(await slow({ deadlineMs: 200 })))).toBe('timeout')
  expect(ended.map(({ failure }) => failure)).toEqual(['timeout', 'timeout'])
})

/** The calls of the gateway itself to a backend `idp` of two endpoints at these ports, or of none. */
function callsOfGateway(ports: readonly number[], policies: Policies = {}) {
  const failed: string[] = []
  const { ofGateway } = new Calls({
    pool,
    bodyMemory,
    random: () => 0,
    backend: findIdp(ports, policies),
    failed: (...words) => failed.push(words.join(' ')),
    ended: (call) => ended.push(call),
  })
  const call = (more: Partial<CallRequest> = {}, destination = IDP_KEY) => callForKeys(ofGateway, destination, more)
  return { call, failed }
}

test('the gateway calls a backend of the plan by its key, with the policies of that backend', async () => {
  let sent = ''
  const port = await serve(
    answering((head) => {
      sent = head
      return ANSWER
    }),
  )
  const { call } = callsOfGateway([port], { 'backend.auth': { key: 'k3y' } })
  expect(await bodyOf(await call())).toBe('hello')
  expect(sent).toBe('GET /keys HTTP/1.1\r\nhost: idp.default.svc.cluster.local\r\nauthorization: Bearer k3y\r\n\r\n')
})

/** The backend with a policy of one step. */
function withStep(backend: LiveBackend | undefined, step: Step): LiveBackend | undefined {
  if (backend === undefined) return undefined
  const groups = backend.groups.map((group) =>
    group.map((endpoint) => ({ ...endpoint, chain: { ...endpoint.chain, steps: [step] } })),
  )
  return { ...backend, groups }
}

test('a policy of a destination calls in the name of the same client, at most three deep', async () => {
  const port = await serve(answering(() => ANSWER))
  const index = indexOf(backendItem('auth', { spec: { host: '127.0.0.1', port } }))
  const called = new CalledBackends(stateOf())
  const request: CallRequest = {
    purpose: 'key-set',
    method: 'GET',
    path: '/',
    headers: [],
    body: undefined,
    timeoutMs: 0,
    signal: new AbortController().signal,
  }
  const steps: unknown[] = []
  const step: Step = (exchange) => {
    const { call, signal, random, now } = exchange.context
    steps.push([exchange.identity.jwt?.claims, signal === request.signal, random(), Math.sign(now())])
    return afterwards(exchange, call('ProxyBackend/default/auth', request).then(bodyOf, String), (result) => {
      steps.push(result)
      return undefined
    })
  }
  const calls = new Calls({
    pool,
    bodyMemory,
    random: () => 0.5,
    backend: (key) => withStep(called.find(key, index), step),
    failed: () => {},
    ended: (call) => ended.push(call),
  })
  const caller = exchangeWith()
  caller.identity.jwt = { claims: { sub: 'alice' }, token: 't0ken' }
  const call = calls.ofRequest(caller, new BodyClaim(bodyMemory))
  expect(await bodyOf(await call('ProxyBackend/default/auth', request))).toBe('hello')
  const ran = [{ sub: 'alice' }, true, 0.5, 1]
  expect(steps).toEqual([ran, ran, ran, 'Error: call failed: no-endpoint', 'hello', 'hello'])
  expect(ended.map(({ failure }) => failure)).toEqual(['no-endpoint', undefined, undefined, undefined])
})

test('a backend that is not there, has no endpoint, or cannot be used', async () => {
  const { call } = callsOfGateway([])
  expect(await failureOf(call())).toBe('no-endpoint')
  expect(await failureOf(call({}, 'Service/default/gone/80'))).toBe('no-endpoint')
  await expect(call({}, 'Service/default/gone/80')).rejects.toMatchObject({ detail: 'the backend does not exist' })
  const { call: tunnelled } = callsOfGateway([1], { 'backend.tunnel': { backendRef: { name: 'p', port: 1 } } })
  expect(await failureOf(tunnelled())).toBe('no-endpoint')
})

test('an endpoint that fails is evicted, and calls go to the other one', async () => {
  const good = await serve(answering(() => ANSWER))
  const { call, failed } = callsOfGateway([await freePort(), good], {
    'backend.health': { eviction: { duration: '3s' } },
  })
  expect(await failureOf(call())).toBe('connection-refused')
  expect(failed).toEqual([expect.stringMatching(/^Service\/default\/idp\/80 127\.0\.0\.1:\d+ connection-refused$/)])
  expect(await bodyOf(await call())).toBe('hello')
})

test('a call that has ended makes room, also when it failed', async () => {
  const port = await serve(answering(() => ANSWER))
  const { call } = callsOfGateway([port])
  for (let i = 0; i < 6; i++) expect(await bodyOf(await call({ deadlineMs: 20_000 }))).toBe('hello')
  const refusing = callsOfGateway([await freePort()])
  for (let i = 0; i < 6; i++) expect(await failureOf(refusing.call({ deadlineMs: 20_000 }))).toBe('connection-refused')
})

test('at most four calls for key sets are under way to one backend, and one that is given up makes room', async () => {
  const port = await serve(() => {})
  const { call } = callsOfGateway([port])
  const stop = new AbortController()
  const pending = Array.from({ length: 6 }, () => failureOf(call({ signal: stop.signal })))
  const first = new AbortController()
  await eventually('four are connected', () => servers[0]!.connections === 4)
  const late = failureOf(call({ signal: first.signal, deadlineMs: 50 }))
  expect(await late).toBe('timeout')
  expect(servers[0]!.connections).toBe(4)
  stop.abort()
  expect(await Promise.all(pending)).toEqual(Array.from({ length: 6 }, () => 'cancelled'))
})
