import { expect, test } from 'vitest'
import { LivePlan } from '#engine/plan/live-plan.ts'
import { listenerItem, policyItem, routeItem, stateOf, toBackend } from '#engine/testing.ts'
import { BodyMemory } from '#net/body/body-memory.ts'
import { FixedBody } from '#net/body/fixed-body.ts'
import { Head } from '#net/http/head.ts'
import type { BodyKind, ClientHandler, ClientPool, RequestBody, ServerStream } from '#net/stream.ts'
import { FakeUpstream } from '#net/testing/fake-upstream.ts'
import { TextSink } from '#net/testing/recording-handler.ts'
import { DecisionIds } from '#observe/decision-ids.ts'
import type { Observer } from '#observe/observer.ts'
import type { PlanItem } from '#plan/item.ts'
import { CloudCredentials } from '#policies/shared/clouds/cloud-credential.ts'
import { exchangeWith, NO_CLOUDS } from '#policies/shared/testing.ts'
import { createLoadMemory, Load } from '#state/load.ts'
import { BackendFacts } from './backend-facts.ts'
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

/** One request through the proxy, without sockets. `answers` are given in turn; then the backend does not respond. */
function request(items: readonly PlanItem[], ...answers: readonly (string | Refused)[]) {
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
        queueMicrotask(() => {
          const isRefused = typeof answer !== 'string'
          upstream.head = Head.response(isRefused ? answer.status : 200)
          upstream.head.append('content-type', isRefused ? 'application/json' : 'text/event-stream')
          if (isRefused) upstream.head.append('retry-after', answer.retryAfter)
          handler.response(upstream)
          upstream.send(isRefused ? '{}' : answer)
          upstream.end()
        })
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
    random: () => 0,
    now: () => performance.now(),
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
