import { expect, test } from 'vitest'
import { clock } from '#base/clock.ts'
import { LivePlan } from '#engine/plan/live-plan.ts'
import { listenerItem, policyItem, routeItem, stateOf, toBackend } from '#engine/testing.ts'
import { BodyMemory } from '#net/body/body-memory.ts'
import { FixedBody } from '#net/body/fixed-body.ts'
import { Head } from '#net/http/head.ts'
import type { BodyKind, ClientHandler, ClientPool, RequestBody, ServerStream } from '#net/stream.ts'
import { FakeUpstream } from '#net/testing/fake-upstream.ts'
import { TextSink } from '#net/testing/recording-handler.ts'
import { workerWheel } from '#net/timer-wheel.ts'
import { DecisionIds } from '#observe/decision-ids.ts'
import type { Observer } from '#observe/observer.ts'
import type { PlanItem } from '#plan/item.ts'
import { CloudCredentials } from '#policies/shared/clouds/cloud-credential.ts'
import { exchangeWith, NO_CLOUDS } from '#policies/shared/testing.ts'
import { createLoadMemory, Load } from '#state/load.ts'
import { VirtualTime } from '#test/support/virtual-time.ts'
import { BackendFacts } from './backend-facts.ts'
import { CutOff } from './cut-off.ts'
import type { InFlight } from './in-flight.ts'
import type { ProxyContext } from './proxy-context.ts'
import { Receiver } from './receive.ts'

const ROUTE = 'HTTPRoute/default/r'

/** A backend whose providers are tried in this order. */
function providers(...names: readonly string[]): PlanItem {
  const groups = names.map((name) => ({ providers: [{ name, providerOne: {}, host: '127.0.0.1', port: 9000 }] }))
  return {
    kind: 'backend',
    key: 'ProxyBackend/default/b',
    namespace: 'default',
    name: 'b',
    type: 'ai',
    spec: { groups },
    broken: undefined,
    origin: { kind: 'ProxyBackend', namespace: 'default', name: 'b' },
  }
}

/** A request of an HTTP/2 client, whose stream knows no early end. */
class FakeStream {
  readonly head: Head
  readonly peer = exchangeWith().peer
  readonly version = '2'
  readonly body: RequestBody
  readonly response = new TextSink()
  context: unknown
  status = 0

  constructor(body: string) {
    this.head = exchangeWith({
      method: 'POST',
      target: '/v1/chat/completions',
      headers: { 'content-type': 'application/json' },
    }).request
    this.body = Object.assign(new FixedBody(body), { done: true, flowing: true })
  }

  respond(head: Head, _kind: BodyKind, _length: number): boolean {
    this.status = head.status
    return true
  }

  abort(): void {}
}

interface Refused {
  readonly status: number
  readonly retryAfter: string
}

/** A stream that begins like this and goes on. */
interface Open {
  readonly begins: string
  readonly afterMs?: number
  readonly type?: string
}

/** One request through the proxy, without sockets. `answers` are given in turn; then the backend does not respond. */
function request(items: readonly PlanItem[], ...answers: readonly (string | Refused | Open)[]) {
  const credentials: CloudCredentials = new CloudCredentials((id) =>
    credentials.update({ id, value: undefined, fetchedMs: 0, failure: 'no answer', final: true, restMs: 0 }),
  )
  const plan = new LivePlan({ ...stateOf(), clouds: { ...NO_CLOUDS, credentials } })
  const route = routeItem('r', { backends: toBackend('b') })
  plan.update({ set: [listenerItem(), route, ...items], removed: [] })
  const sent: FakeUpstream[] = []
  const bugs: unknown[] = []
  const pool: Pick<ClientPool, 'send'> = {
    send: (_destination, _head, _framing, _timeout, handler: ClientHandler, context) => {
      const upstream = new FakeUpstream()
      upstream.context = context
      sent.push(upstream)
      const answer = answers[sent.length - 1]
      if (answer !== undefined) {
        const isOpen = typeof answer === 'object' && 'begins' in answer
        const respond = () => {
          const isRefused = typeof answer === 'object' && !isOpen
          upstream.head = Head.response(isRefused ? answer.status : 200)
          const type = isOpen ? answer.type : undefined
          upstream.head.append('content-type', isRefused ? 'application/json' : (type ?? 'text/event-stream'))
          if (isRefused) upstream.head.append('retry-after', answer.retryAfter)
          handler.response(upstream)
          upstream.send(isRefused ? '{}' : isOpen ? answer.begins : answer)
          if (!isOpen) upstream.end()
        }
        if (isOpen && answer.afterMs !== undefined) clock.after(answer.afterMs, respond)
        else queueMicrotask(respond)
      }
      return upstream
    },
  }
  const observer: Pick<Observer, 'bug' | 'ended'> = { bug: (_, error) => bugs.push(error), ended: () => {} }
  const context = {
    decisionIds: new DecisionIds(),
    workloads: plan.workloads,
    index: plan.index,
    pool,
    observer: observer as Observer,
    load: new Load({ add: () => {} }, createLoadMemory(1), 0),
    facts: new BackendFacts(() => {}),
    bodyMemory: new BodyMemory(1_000_000),
    recordBodyBytes: 0,
    cutOff: new CutOff(),
    random: () => 0,
    now: () => clock.monotonic(),
  } as unknown as ProxyContext
  const stream = new FakeStream(
    JSON.stringify({ model: 'm', stream: true, messages: [{ role: 'user', content: 'hi' }] }),
  )
  const receiver = new Receiver(context, plan.sockets.get('127.0.0.1:8080')!)
  receiver.request(stream as unknown as ServerStream)
  return { stream, receiver, sent, bugs }
}

/** Lets everything happen that does not wait for time. */
const settled = () => new Promise(setImmediate)

test('an answer that ends before its first content is retried as often as the policy says, and then reported', async () => {
  const early = [': a\n\n', ': b\n\n', ': c\n\n']
  const once = policyItem('traffic.retry', ROUTE, { attempts: 1 })
  const { stream, sent, bugs } = request([providers('one', 'two', 'three'), once], ...early)
  await settled()
  expect(sent).toHaveLength(2)
  expect(stream.status).toBe(200)
  expect(stream.response.text).toMatch(/^: b\n\ndata: .*ended before the response was complete/)
  expect(bugs).toEqual([])
})

test('without a policy of retries, an answer that ends before its first content is not retried, also if a policy reads it', async () => {
  const reads = { response: { set: [{ name: 'x-size', value: 'string(size(response.body))' }] } }
  const { stream, sent } = request(
    [providers('one', 'two'), policyItem('traffic.transformation', ROUTE, reads)],
    '',
    '',
  )
  await settled()
  expect(sent).toHaveLength(1)
  expect(stream.response.text).toContain('ended before the response was complete')
})

test.each([
  [429, '7', [{ status: 429, detail: 'retry-after: 7' }]],
  [503, '1', [{ status: 503, detail: 'retry-after: 1' }]],
  // What was cut is marked, so that a secret in it is found.
  [503, 'x'.repeat(41), [{ status: 503, detail: `retry-after: ${'x'.repeat(39)}\u2026` }]],
  // No refusal, and the only attempt.
  [200, '7', undefined],
])(
  'the record of an only attempt that is answered with %i and a wait of %s s',
  async (status, retryAfter, attempts) => {
    const { sent } = request([providers('one')], { status, retryAfter })
    await settled()
    const { exchange } = sent[0]!.context as InFlight
    expect(exchange.attempts?.map(({ status: given, detail }) => ({ status: given, detail }))).toEqual(attempts)
  },
)

test.each([true, false])(
  'a request forgets the objects of its response if the next one may have them: %j',
  async (isOver) => {
    const { stream, receiver, sent } = request([providers('one')], 'data: [DONE]\n\n')
    await settled()
    const upstream = sent[0]!
    const flight = stream.context as InFlight
    upstream.release = () => isOver
    receiver.finished(stream as unknown as ServerStream, 0)
    expect(flight.upstream).toBe(isOver ? undefined : upstream)
  },
)

test('what is still asked for a request ends when its response is complete', async () => {
  const { stream, receiver } = request([providers('one')], 'data: [DONE]\n\n')
  await settled()
  const { signal } = stream.context as InFlight
  expect(signal.aborted).toBe(false)
  receiver.finished(stream as unknown as ServerStream, 0)
  expect(signal.aborted).toBe(true)
})

test('a request whose only endpoint gets no credential is refused, and not sent', async () => {
  const auth = policyItem('backend.auth', 'ProxyBackend/default/b', { cloudThree: { type: 'AccessToken' } })
  const { stream, sent } = request([providers('one'), auth])
  await settled()
  expect([stream.status, JSON.parse(stream.response.text)]).toMatchObject([
    500,
    { error: { code: 'backend-credential-unavailable' } },
  ])
  expect(sent).toEqual([])
})

const once = policyItem('traffic.retry', ROUTE, { attempts: 1 })
const within = (requestTimeout: string) =>
  policyItem('backend.http', 'ProxyBackend/default/b', { requestTimeout }, { policy: 'http' })
const guarded = policyItem('backend.ai', 'ProxyBackend/default/b', {
  promptGuard: { response: [{ regex: { matches: ['secret'] } }] },
})
const delta = (members: object) => `data: ${JSON.stringify({ id: 'c', choices: [{ index: 0, delta: members }] })}\n\n`
const ROLE = delta({ role: 'assistant', content: '' })
const GOOD = `${delta({ content: 'good' })}data: [DONE]\n\n`

test.each([
  ['nothing', '', true],
  ['comments', ': ping\n\n'.repeat(9), true],
  ['a role', ROLE, true],
  ['half an event', delta({ content: 'a' }).trimEnd(), true],
  ['text', delta({ content: 'a' }), false],
  ['a thought', delta({ reasoning_content: 'a' }), false],
  ['a refusal', delta({ refusal: 'a' }), false],
  ['a call', delta({ tool_calls: [{ index: 0, id: 'i', function: { name: 'f', arguments: '' } }] }), false],
])('behind %s, a stream that is silent until requestTimeout is replaced: %j', async (_, begins, isReplaced) => {
  using time = new VirtualTime()
  const { stream, sent, bugs } = request([providers('one', 'two'), once, within('12s')], { begins }, GOOD)
  await time.pass(11_999)
  expect([sent.length, stream.response.text]).toEqual([1, isReplaced ? '' : begins])
  await time.pass(1)
  expect([sent[0]!.cancelled, sent.length]).toEqual([isReplaced, isReplaced ? 2 : 1])
  expect([stream.status, stream.response.text]).toEqual([200, isReplaced ? GOOD : begins])
  expect(bugs).toEqual([])
  if (!isReplaced) return
  const { exchange, tried } = sent[0]!.context as InFlight
  expect(tried[0]!.health.health).toBeLessThan(1)
  expect(exchange.attempts![0]).toMatchObject({
    failure: 'answer-failed',
    detail: 'no content within 12000 ms (backend.http.requestTimeout)',
  })
})

test('the limit counts from the attempt, and a wait for the head is a part of it', async () => {
  using time = new VirtualTime()
  const { sent } = request([providers('one', 'two'), once, within('2s')], { begins: '', afterMs: 1500 })
  await time.pass(1999)
  expect(sent).toHaveLength(1)
  await time.pass(1)
  expect(sent).toHaveLength(2)
})

test('the limit of a route rule is that of the first content, too', async () => {
  using time = new VirtualTime()
  const timeouts = policyItem('traffic.timeouts', ROUTE, { backendRequest: '2s' })
  const { sent } = request([providers('one', 'two'), once, timeouts], { begins: ROLE }, GOOD)
  await time.pass(2000)
  expect((sent[0]!.context as InFlight).exchange.attempts![0]).toMatchObject({
    detail: 'no content within 2000 ms (timeouts.backendRequest of the route rule)',
  })
})

test('an answer that is no stream is limited until its head only', async () => {
  using time = new VirtualTime()
  const answer = { begins: '<html>', type: 'text/html' }
  const { sent } = request([providers('one', 'two'), once, within('2s')], answer, GOOD)
  await time.pass(60_000)
  expect(sent).toHaveLength(1)
})

test('nothing is done for a client that has left', async () => {
  using time = new VirtualTime()
  // It has the time of the tests before.
  workerWheel.clear()
  const silence = async () => {
    await time.pass(15_200)
    workerWheel.advance()
  }
  const held = request([providers('one', 'two'), once, within('20s')], { begins: ROLE }, GOOD)
  const begun = request([providers('one')], { begins: ROLE })
  await silence()
  expect(begun.stream.response.text).toBe(`${ROLE}: \n\n`)
  for (const { receiver, stream } of [held, begun]) receiver.aborted(stream as unknown as ServerStream, 'reset', false)
  await silence()
  expect([held.sent.length, begun.stream.response.text]).toEqual([1, `${ROLE}: \n\n`])
})

test.each([
  ['no attempt is left', [within('2s')], 1],
  ['no attempt is left, after the wait for a verdict', [within('12s'), guarded], 5000],
  ['nothing limits it', [once], 5000],
])('a silent stream goes out if %s', async (_, items, ms) => {
  using time = new VirtualTime()
  const { stream, sent } = request([providers('one', 'two'), ...items], { begins: ROLE }, GOOD)
  await time.pass(ms)
  expect([stream.status, stream.response.text]).toEqual([200, ROLE])
  await time.pass(60_000)
  expect(sent).toHaveLength(1)
})

test('the last attempt has no limit for its first content', async () => {
  using time = new VirtualTime()
  const { stream, sent } = request([providers('one', 'two'), once, within('2s')], { begins: '' }, { begins: ROLE })
  await time.pass(60_000)
  expect([sent.length, sent[1]!.cancelled]).toEqual([2, false])
  expect([stream.status, stream.response.text]).toEqual([200, ROLE])
})

test('a silent stream that a policy reads as a whole is replaced', async () => {
  using time = new VirtualTime()
  const reads = { response: { set: [{ name: 'x-size', value: 'string(size(response.body))' }] } }
  const reading = policyItem('traffic.transformation', ROUTE, reads)
  const items = [providers('one', 'two'), once, within('2s'), reading]
  for (const [begins, count] of [
    [ROLE, 2],
    [delta({ content: 'a' }), 1],
  ] as const) {
    const { stream, sent } = request(items, { begins }, GOOD)
    await time.pass(1999)
    expect(sent).toHaveLength(1)
    await time.pass(1)
    expect([sent.length, stream.response.text]).toEqual([count, count === 2 ? GOOD : ''])
  }
})
