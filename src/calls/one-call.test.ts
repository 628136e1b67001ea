import { afterEach, beforeEach, expect, test } from 'vitest'
import type { LiveEndpoint } from '#engine/backend/live-backend.ts'
import { CallError, type CallRequest, type CallResponse, type EndedCall } from '#exchange/call.ts'
import { BodyMemory } from '#net/body/body-memory.ts'
import type { FailureCode } from '#net/failure.ts'
import { Head } from '#net/http/head.ts'
import type { ClientHandler, ClientPool, Framing } from '#net/stream.ts'
import { FakeUpstream } from '#net/testing/fake-upstream.ts'
import { TimerWheel, WheelTimer } from '#net/timer-wheel.ts'
import { VirtualTime } from '#test/support/virtual-time.ts'
import { Calls } from './calls.ts'
import { callForKeys, findIdp, IDP_KEY, type Policies } from './testing.ts'

// The test is the pool: it has the requests and sends the responses.

let time: VirtualTime
let wheel: TimerWheel
beforeEach(() => {
  time = new VirtualTime()
  wheel = new TimerWheel()
})
afterEach(() => time[Symbol.dispose]())

/** Until after a deadline of one second: the wheel is up to 200 ms late. */
async function passDeadline(): Promise<void> {
  await time.pass(999)
  wheel.advance()
  await time.pass(201)
  wheel.advance()
}

interface Sent {
  readonly head: Head
  readonly framing: Framing
  readonly responseTimeoutMs: number
  readonly stream: FakeUpstream
  readonly handler: ClientHandler
}

/** Calls of the gateway to a backend with this number of endpoints. */
function callsTo(policies: Policies = {}, endpointCount = 1) {
  const find = findIdp(
    Array.from({ length: endpointCount }, (_, i) => 9000 + i),
    policies,
  )
  const sent: Sent[] = []
  const ended: EndedCall[] = []
  const send: ClientPool['send'] = (_, head, framing, responseTimeoutMs, handler) => {
    const stream = new FakeUpstream()
    sent.push({ head: head.clone(), framing, responseTimeoutMs, stream, handler })
    return stream
  }
  const pool = { send } as ClientPool
  const { ofGateway } = new Calls({
    pool,
    wheel,
    bodyMemory: new BodyMemory(Number.POSITIVE_INFINITY),
    random: () => 0.25,
    backend: find,
    failed: () => {},
    ended: (call) => ended.push(call),
  })
  /** Begins a call; what it came to is in `outcome` as soon as that is known. */
  const begin = async (more: Partial<CallRequest> = {}) => {
    const pending = callForKeys(ofGateway, IDP_KEY, more)
    const outcome = pending.catch((error: unknown) => error)
    await time.pass(0)
    return { outcome, pending, ...sent.at(-1)! }
  }
  const endpoints: readonly LiveEndpoint[] = find(IDP_KEY)!.groups[0]!
  return { begin, sent, ended, endpoints, pool }
}

type Begun = Awaited<ReturnType<ReturnType<typeof callsTo>['begin']>>

/** Sends the head of a response. */
async function answer({ pending, stream, handler }: Begun, status: number, field?: string): Promise<CallResponse> {
  stream.head = Head.response(status)
  if (field !== undefined) stream.head.set('x-state', field)
  handler.response(stream)
  return pending
}

async function answerWhole(begun: Begun, status: number): Promise<void> {
  await answer(begun, status)
  begun.stream.end()
}

function fail({ stream, handler }: Begun, code: FailureCode): void {
  handler.failed(stream, { code, detail: 'as the system says', maybeProcessed: false })
}

const EVICTED_AT_ONCE = { 'backend.health': { eviction: { duration: '3s' } } }

test.each<[what: string, evicted: boolean, end: (begun: Begun, caller: AbortController) => Promise<void> | void]>([
  ['a whole response', false, (begun) => answerWhole(begun, 200)],
  ['a response of 499', false, (begun) => answerWhole(begun, 499)],
  ['a response of 500', true, (begun) => answerWhole(begun, 500)],
  ['the head of a response of 503', true, async (begun) => void (await answer(begun, 503))],
  [
    'a response that is reset after its head',
    true,
    async (begun) => {
      await answer(begun, 200)
      begun.stream.break('reset')
    },
  ],
  [
    'a response with broken framing',
    true,
    async (begun) => {
      await answer(begun, 200)
      begun.stream.break('protocol-error')
    },
  ],
  [
    'a response that the caller does not read to its end',
    false,
    async (begun) => void (await (await answer(begun, 200)).body[Symbol.asyncIterator]().return?.()),
  ],
  [
    'a response whose deadline passes after its head',
    false,
    async (begun) => {
      await answer(begun, 200)
      await passDeadline()
    },
  ],
  ['no response before the deadline', true, () => passDeadline()],
  ['a refused connection', true, (begun) => fail(begun, 'connection-refused')],
  ['no time to wait for a connection', false, (begun) => fail(begun, 'wait-timeout')],
  ['no room to wait for a connection', false, (begun) => fail(begun, 'too-many-waiting')],
  ['a caller that gives up', false, (_, caller) => caller.abort()],
  ['a response that switches protocols', false, ({ stream, handler }) => handler.upgraded(stream)],
  [
    'a deadline that passes while all connections are busy',
    false,
    async ({ stream }) => {
      stream.awaitsRoom = true
      await passDeadline()
    },
  ],
])('%s: the endpoint is evicted: %s', async (_, evicted, end) => {
  const { begin, endpoints } = callsTo(EVICTED_AT_ONCE)
  const caller = new AbortController()
  await end(await begin({ deadlineMs: 1000, signal: caller.signal }), caller)
  expect(endpoints[0]!.health.evicted).toBe(evicted)
})

test('a configured condition reads the head of the response', async () => {
  const health = { unhealthyCondition: 'response.headers["x-state"] == "down"', eviction: { duration: '3s' } }
  const { begin, endpoints } = callsTo({ 'backend.health': health })
  await answer(await begin(), 503, 'up')
  expect(endpoints[0]!.health.evicted).toBe(false)
  await answer(await begin(), 200, 'down')
  expect(endpoints[0]!.health.evicted).toBe(true)
})

test.each<[between: string, evicted: boolean, end: (begun: Begun, caller: AbortController) => Promise<unknown>]>([
  ['a whole healthy response', false, (begun) => answerWhole(begun, 200)],
  [
    'a healthy response of which the caller has read enough',
    false,
    async (begun) => (await answer(begun, 200)).body[Symbol.asyncIterator]().return?.(),
  ],
  [
    'a healthy response whose caller gives up',
    true,
    async (begun, caller) => {
      await answer(begun, 200)
      caller.abort()
    },
  ],
  ['the head of a healthy response', true, (begun) => answer(begun, 200)],
])('two failures with %s in between are consecutive: %s', async (_, evicted, end) => {
  const { begin, endpoints } = callsTo({ 'backend.health': { eviction: { duration: '3s', consecutiveFailures: 2 } } })
  const caller = new AbortController()
  await answerWhole(await begin(), 503)
  await end(await begin({ signal: caller.signal }), caller)
  await answerWhole(await begin(), 503)
  expect(endpoints[0]!.health.evicted).toBe(evicted)
})

test('two unhealthy responses in a row are consecutive, though both are complete', async () => {
  const { begin, endpoints } = callsTo({ 'backend.health': { eviction: { duration: '3s', consecutiveFailures: 2 } } })
  await answerWhole(await begin(), 503)
  expect(endpoints[0]!.health.evicted).toBe(false)
  await answerWhole(await begin(), 503)
  expect(endpoints[0]!.health.evicted).toBe(true)
})

test('the score of an endpoint depends on its latency, to the end of responses, and on the calls in flight', async () => {
  const { begin, endpoints } = callsTo({}, 2)
  const scores = () => endpoints.map(({ health }) => health.score.toFixed(3)).toSorted()
  const begun = await begin()
  await time.pass(500)
  await answer(begun, 200)
  expect(scores()).toEqual(['0.999', '1.000'])
  await time.pass(500)
  begun.stream.end()
  expect(scores()).toEqual(['0.500', '1.000'])
})

test.each<[what: string, failure: string, end: (begun: Begun, caller: AbortController) => Promise<void> | void]>([
  ['a caller that gives up', 'cancelled', (_, caller) => caller.abort()],
  ['a deadline', 'timeout', () => passDeadline()],
  [
    'a caller that gives up while all connections are busy',
    'cancelled',
    ({ stream }, caller) => {
      stream.awaitsRoom = true
      caller.abort()
    },
  ],
  [
    'a deadline while all connections are busy',
    'wait-timeout',
    async ({ stream }) => {
      stream.awaitsRoom = true
      await passDeadline()
    },
  ],
  ['a switch of protocols', 'protocol-error', ({ stream, handler }) => handler.upgraded(stream)],
])('%s cancels the request: %s', async (_, failure, end) => {
  const { begin, ended } = callsTo()
  const caller = new AbortController()
  const begun = await begin({ deadlineMs: 1000, signal: caller.signal })
  expect(begun.stream.cancelled).toBe(false)
  await end(begun, caller)
  expect(begun.stream.cancelled).toBe(true)
  expect(await begun.outcome).toMatchObject({ failure })
  expect(ended.map((call) => [call.status, call.failure])).toEqual([[undefined, failure]])
})

test('a call that was given up before it began sends nothing', async () => {
  const { begin, sent } = callsTo()
  const caller = new AbortController()
  caller.abort()
  const begun = begin({ signal: caller.signal })
  expect(await (await begun).outcome).toMatchObject({ failure: 'cancelled' })
  expect(sent).toEqual([])
})

test.each<[body: string | undefined, framing: { kind: number; length: number }]>([
  [undefined, { kind: 0, length: 0 }],
  ['', { kind: 0, length: 0 }],
  ['x', { kind: 1, length: 1 }],
  ['{"a":1}', { kind: 1, length: 7 }],
])('a request with the body %s', async (text, framing) => {
  const { begin } = callsTo({
    'backend.transformation': { request: { set: [{ name: 'x-size', value: 'string(size(request.body))' }] } },
  })
  const body = text === undefined ? undefined : new TextEncoder().encode(text)
  const { head, framing: given, stream } = await begin({ method: 'POST', body })
  expect(given).toMatchObject(framing)
  expect([stream.request.text, stream.request.ended]).toEqual([text ?? '', framing.length > 0])
  expect(head.get('x-size')).toBe(String(framing.length))
})

test('the destination determines the host; other fields are sent as given', async () => {
  const { begin } = callsTo()
  const { head } = await begin({
    headers: [
      ['host', 'other.example'],
      ['accept', 'a'],
      ['accept', 'b'],
    ],
  })
  const fields: string[] = []
  head.each((name, value) => fields.push(`${name}: ${value}`))
  expect(fields).toEqual(['host: idp.default.svc.cluster.local', 'accept: a', 'accept: b'])
})

test.each([
  [{}, 0, 0],
  [{}, 700, 700],
  [{ 'backend.http': { requestTimeout: '50ms' } }, 700, 50],
])('time limits: policies %j, call %i: %i ms', async (policies: Policies, timeoutMs, expected) => {
  const { begin } = callsTo(policies)
  expect((await begin({ timeoutMs })).responseTimeoutMs).toBe(expected)
})

test.each<[policies: Policies, limits: Partial<CallRequest>, ms: number]>([
  [{}, { defaultDeadlineMs: 1000, maxDeadlineMs: 5000 }, 1000],
  [{}, { defaultDeadlineMs: 5000, maxDeadlineMs: 1000 }, 1000],
  [{}, { deadlineMs: 5000, maxDeadlineMs: 1000 }, 1000],
  [{}, { maxDeadlineMs: 1000 }, 1000],
  [{ 'backend.http': { requestTimeout: '5s' } }, { defaultDeadlineMs: 500, maxDeadlineMs: 1000 }, 1000],
  [{ 'backend.http': { requestTimeout: '1s' } }, { defaultDeadlineMs: 500, maxDeadlineMs: 5000 }, 1000],
])('deadlines: policies %j, call %j: %i ms', async (policies, limits, ms) => {
  const { begin, ended } = callsTo(policies)
  const { outcome } = await begin(limits)
  await time.pass(ms - 1)
  wheel.advance()
  expect(ended).toEqual([])
  await time.pass(201)
  wheel.advance()
  expect(await outcome).toMatchObject({ failure: 'timeout' })
})

test.each([
  ['source.address', ''],
  ['string(source.port)', '0'],
  ['source.rawAddress', ''],
  ['string(source.rawPort)', '0'],
  ['destination.address', ''],
  ['string(destination.port)', '0'],
  ['string(has(destination.hostname))', 'false'],
  ['string(random())', '0.25'],
  ['string(request.startTime)', '2027-01-15T08:00:00Z'],
])('policies of the destination of a call of the gateway itself read %s', async (expression, expected) => {
  const set = [{ name: 'x-read', value: `"<" + ${expression} + ">"` }]
  const { begin } = callsTo({ 'backend.transformation': { request: { set } } })
  expect((await begin()).head.get('x-read')).toBe(`<${expected}>`)
})

test('an internal error rejects the call with it, and the call makes room for the next one', async () => {
  const { begin, pool, ended, sent } = callsTo()
  const working = pool.send
  const bug = new Error('a bug')
  pool.send = () => {
    throw bug
  }
  for (let i = 0; i < 6; i++) expect(await (await begin()).outcome).toBe(bug)
  expect(ended.map(({ failure }) => failure)).toEqual(Array(6).fill('no-endpoint'))
  pool.send = working
  await begin()
  expect(sent).toHaveLength(1)
})

test.each([
  [
    'a credential that is missing',
    { 'backend.auth': { secretRef: { name: 'gone' } } },
    'backend-auth-failed',
    'the Secret `default/gone` does not exist, or has errors and is not in use',
  ],
  [
    'a proxy server that is missing',
    { 'backend.tunnel': { backendRef: { name: 'p', port: 1 } } },
    'no-endpoint',
    'backend.tunnel: the proxy server does not exist, or is not permitted',
  ],
])('%s: the error has the failure and its cause', async (_, policies: Policies, failure, detail) => {
  const { begin } = callsTo(policies)
  const error = await (await begin()).outcome
  expect(error).toBeInstanceOf(CallError)
  expect(error).toMatchObject({ failure, detail })
})

test('a deadline is never early, also if the wheel lags behind the clock', async () => {
  wheel.arm(new WheelTimer(() => {}), 60_000)
  await time.pass(150)
  const { outcome, stream } = await callsTo().begin({ deadlineMs: 1000 })
  await time.pass(950)
  wheel.advance()
  expect(stream.cancelled).toBe(false)
  await time.pass(250)
  wheel.advance()
  expect(await outcome).toMatchObject({ failure: 'timeout' })
})

test('a connection that fails: the error has the words of the system', async () => {
  const { begin } = callsTo()
  const begun = await begin()
  fail(begun, 'unreachable')
  expect(await begun.outcome).toMatchObject({ failure: 'unreachable', detail: 'as the system says' })
})
