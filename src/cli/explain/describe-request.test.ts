import { expect, test } from 'vitest'
import { REDACTED } from '#base/credential-names.ts'
import type { Explanation } from '#engine/explain/explain.ts'
import { listenerItem, matchOf, routeItem } from '#engine/testing.ts'
import { reject } from '#exchange/outcome.ts'
import { Head } from '#net/http/head.ts'
import { describeRequest } from './describe-request.ts'

const NOTHING: Explanation = {
  path: { received: '/x', matched: '/x' },
  listener: undefined,
  route: undefined,
  nearMisses: [],
  otherHostnames: [],
  policies: [],
  steps: [],
  consumer: undefined,
  limits: [],
  callouts: [],
  credentials: [],
  backends: [],
  endpoints: [],
  outcome: undefined,
  grpc: false,
  upstream: undefined,
  upstreamHttp: undefined,
  protocol: undefined,
}

const describe = (more: Partial<Explanation>, showsSecrets = false) =>
  describeRequest({
    method: 'GET',
    url: 'http://a/x',
    explanation: { ...NOTHING, ...more },
    store: { locate: () => ({ file: 'r.yaml', line: 7, column: 1 }) },
    showsSecrets,
    hideValues: (text) => text.replaceAll('s3cret', REDACTED),
  })

test('what was not reached is absent', () => {
  expect(describe({})).toEqual({
    ...{ kind: 'request', method: 'GET', url: 'http://a/x', path: NOTHING.path },
    ...{ nearMisses: [], policies: [], steps: [], callouts: [], limits: [], backends: [], endpoints: [], protocol: [] },
    outcome: { kind: 'served' },
  })
})

const PLACE = { file: 'r.yaml', line: 7 }

test('objects have their places, and the match of the route is no near miss', () => {
  const [item, other] = [routeItem('r'), routeItem('other', { ruleName: 'named' })]
  const match = matchOf('GET prefix /x')
  const near = (item: typeof other, match: ReturnType<typeof matchOf>) => ({
    item,
    match,
    why: 'no',
    pathMatches: true,
  })
  const explanation = describe({
    listener: listenerItem(),
    route: { item, match },
    nearMisses: [near(item, match), near(other, matchOf('exact /y'))],
    protocol: { lines: ['llm       no model'] } as Explanation['protocol'],
  })
  expect(explanation).toMatchObject({
    listener: { name: 'http', object: 'Gateway default/main', ...PLACE },
    route: { object: 'HTTPRoute default/r', rule: 0, match: 'under prefix /x', method: 'GET', ...PLACE },
    protocol: ['llm       no model'],
  })
  expect(explanation.nearMisses).toMatchObject([
    {
      object: 'HTTPRoute default/other',
      ruleName: 'named',
      match: 'exactly /y',
      why: 'no',
      pathMatches: true,
      ...PLACE,
    },
  ])
  expect(explanation.route).not.toHaveProperty('ruleName')
})

test('steps have their detail, if any', () => {
  const step = { stage: 'post-routing', name: 'traffic.csrf', verdict: 'proceed' } as const
  const { steps } = describe({
    steps: [
      { ...step, origins: [], detail: undefined },
      { ...step, origins: [], detail: 'why', notes: ['n'] },
    ],
  })
  expect(steps).toEqual([
    { ...step, notes: [] },
    { ...step, detail: 'why', notes: ['n'] },
  ])
})

const HTTP = {
  protocol: 'http',
  message: 'GET /check?q=\xc3\xa9 HTTP/1.1\r\nauthorization: Bearer s3cret\r\nx-own: one\r\nx-other: s3cret\r\n\r\n',
  credentials: [{ kind: 'header', name: 'x-own' }],
} as const
const GRPC = {
  protocol: 'grpc',
  path: '/p.S/M',
  bytes: 9,
  message: { host: 'a', key: 'hidden' },
  secrets: ['hidden'],
} as const

test.each([
  [HTTP, false, `GET /check?q=é HTTP/1.1\nauthorization: ${REDACTED}\nx-own: ${REDACTED}\nx-other: ${REDACTED}`],
  [HTTP, true, 'GET /check?q=é HTTP/1.1\nauthorization: Bearer s3cret\nx-own: one\nx-other: s3cret'],
  [GRPC, false, `gRPC call of /p.S/M, a message of 9 bytes\nhost: "a"\nkey: ${REDACTED}`],
  [GRPC, true, 'gRPC call of /p.S/M, a message of 9 bytes\nhost: "a"\nkey: "hidden"'],
])('the question %j, with secrets: %j', (question, showsSecrets, text) => {
  const callout = { policy: 'extAuth', backend: 'default/a', sent: false, answer: undefined, question }
  const { callouts } = describe({ callouts: [callout] }, showsSecrets)
  expect(callouts).toEqual([{ policy: 'extAuth', backend: 'default/a', sent: false, question: text }])
})

test('a query parameter of the request that may hold a credential is hidden in what a server is asked', () => {
  const question = { ...GRPC, message: { path: '/x?own=one&other=two' } }
  const { callouts } = describe({
    callouts: [{ policy: 'extAuth', backend: 'default/a', sent: false, answer: undefined, question }],
    credentials: [
      { kind: 'queryParameter', name: 'own' },
      { kind: 'header', name: 'other' },
    ],
  })
  expect(callouts?.[0]?.question).toContain(`path: "/x?own=${REDACTED}&other=two"`)
})

test('the answer of a server that was asked', () => {
  const answer = { verdict: 'denied', durationMs: 1.2, detail: 'why' } as NonNullable<
    Explanation['callouts'][0]['answer']
  >
  const callout = { policy: 'extAuth', backend: 'default/a', sent: true, answer, question: HTTP }
  expect(describe({ callouts: [callout] }).callouts).toMatchObject([
    { sent: true, verdict: 'denied', durationMs: 2, detail: 'why' },
  ])
})

test.each([
  [undefined, undefined],
  [{ expression: 'k', value: undefined, isSecret: true }, { expression: 'k' }],
  [
    { expression: 'k', value: 'v', isSecret: false },
    { expression: 'k', value: 'v' },
  ],
  [
    { expression: 'k', value: 'v', isSecret: true },
    { expression: 'k', value: REDACTED },
  ],
])('a limit by %j', (key, described) => {
  const limit = { unit: 'requests', capacity: 7, unitMs: 1000, key } as Explanation['limits'][0]
  const { limits } = describe({ limits: [limit] })
  expect(limits).toEqual([{ unit: 'requests', capacity: 7, intervalMs: 1000, ...(described && { key: described }) }])
  if (key !== undefined) expect(describe({ limits: [limit] }, true).limits![0]!.key!.value).toBe(key.value)
})

const answered = (body: string | Uint8Array | undefined) =>
  ({ kind: 'answer', head: Head.response(202), body }) as const

test.each<[string, Partial<Explanation>, object]>([
  [
    'refused',
    { outcome: reject('path-invalid', { detail: 'a dot' }) },
    { kind: 'refused', code: 'path-invalid', status: 400, text: 'invalid path', detail: 'a dot' },
  ],
  [
    'refused as gRPC',
    { outcome: reject('route-not-found'), grpc: true },
    { kind: 'refused', code: 'route-not-found', status: 200, grpcStatus: 12, text: 'route not found' },
  ],
  [
    'answered',
    { outcome: answered('text') },
    { kind: 'answered', status: 202, head: 'HTTP/1.1 202 Accepted\r\n\r\n', body: 'text' },
  ],
  ['answered with bytes', { outcome: answered(Buffer.from('é')) }, { kind: 'answered', body: 'é' }],
  ['answered without a body', { outcome: answered(undefined) }, { kind: 'answered', body: '' }],
  [
    'forwarded',
    { upstream: 'GET / HTTP/1.1\r\nauthorization: Bearer x\r\nx-name: \xc3\xa9\r\n\r\n', upstreamHttp: 'http2' },
    { kind: 'forwarded', http: 'http2', message: `GET / HTTP/1.1\r\nauthorization: ${REDACTED}\r\nx-name: é\r\n\r\n` },
  ],
])('a request that is %s', (_, more, outcome) => {
  expect(describe(more).outcome).toMatchObject(outcome)
})
