import { expect, test } from 'vitest'
import { verifies } from '#test/support/verifies.ts'
import {
  codeOf,
  contextWith,
  type ExchangeInputs,
  exchangeWith,
  linesOf,
  sourceOf,
  specFrom,
} from '../../shared/testing.ts'
import { transformation } from './index.ts'
import { trafficTransformation } from './schema.ts'

function policyOf(written: object) {
  const context = contextWith()
  const run = transformation.compile([sourceOf(specFrom(trafficTransformation, written))], context)!
  return {
    context,
    run,
    send(request: ExchangeInputs = {}) {
      const exchange = exchangeWith(request)
      const outcome = run.request?.(exchange)
      return { exchange, outcome, lines: linesOf(exchange.request) }
    },
    answer(response: ExchangeInputs) {
      const exchange = exchangeWith({ status: 200, ...response })
      run.request?.(exchange)
      const outcome = run.response?.(exchange)
      return { exchange, outcome, lines: linesOf(exchange.response!) }
    },
  }
}

const FAILS = 'request.headers["absent"]'
const text = (bytes: Uint8Array | undefined) => (bytes === undefined ? undefined : new TextDecoder().decode(bytes))

const X = { 'x-a': ['1', '2'], 'x-b': 'b' }

const requestCases: [request: object, lines: string[]][] = [
  // transform                                            x-a: 1, x-a: 2, x-b: b become
  [{ set: [{ name: 'X-A', value: '"new"' }] }, ['x-b: b', 'x-a: new']],
  [{ set: [{ name: 'x-c', value: '"new"' }] }, ['x-a: 1', 'x-a: 2', 'x-b: b', 'x-c: new']],
  [{ add: [{ name: 'X-A', value: '"3"' }] }, ['x-a: 1', 'x-a: 2', 'x-b: b', 'x-a: 3']],
  [{ add: [{ name: 'x-c', value: 'request.headers["x-b"]' }] }, ['x-a: 1', 'x-a: 2', 'x-b: b', 'x-c: b']],
  [{ remove: ['X-A'] }, ['x-b: b']],
  [{ remove: ['x-none'] }, ['x-a: 1', 'x-a: 2', 'x-b: b']],
  // A failing or invalid value removes a header that the client may have set.
  [{ set: [{ name: 'x-a', value: FAILS }] }, ['x-b: b']],
  [{ add: [{ name: 'x-a', value: FAILS }] }, ['x-b: b']],
  [{ set: [{ name: 'x-a', value: '42' }] }, ['x-b: b']],
  [{ set: [{ name: 'x-a', value: '"two\r\nlines"' }] }, ['x-b: b']],
  [{ set: [{ name: 'x-a', value: 'broken (' }] }, ['x-b: b']],
  // add, set, remove: each operates on the result of the previous one
  [
    { add: [{ name: 'x-c', value: '"1"' }], set: [{ name: 'x-d', value: 'request.headers["x-c"]' }], remove: ['x-a'] },
    ['x-b: b', 'x-c: 1', 'x-d: 1'],
  ],
  [{ add: [{ name: 'x-b', value: '"2"' }], set: [{ name: 'x-b', value: '"3"' }] }, ['x-a: 1', 'x-a: 2', 'x-b: 3']],
  [{ metadata: { who: '"me"' }, set: [{ name: 'x-a', value: 'metadata.who' }] }, ['x-b: b', 'x-a: me']],
]
verifies(
  [
    'traffic.transformation/set',
    'traffic.transformation/add',
    'traffic.transformation/add-existing',
    'traffic.transformation/remove',
    'traffic.transformation/request-optional',
  ],
  'headers of the request',
  () => {
    for (const [request, lines] of requestCases) {
      expect(policyOf({ request }).send({ headers: X }).lines, JSON.stringify(request)).toEqual(lines)
    }
  },
)

verifies('traffic.transformation/response-optional', 'headers of the response', () => {
  for (const [response, lines] of requestCases.filter(([spec]) => !JSON.stringify(spec).includes('request.'))) {
    expect(policyOf({ response }).answer({ responseHeaders: X }).lines, JSON.stringify(response)).toEqual(lines)
  }
})

test.each([
  ['"5 \u20ac"', '5 \u00e2\u0082\u00ac'],
  ['"caf\u00e9"', 'caf\u00c3\u00a9'],
  ['request.headers["y"]', 'voil\u00c3\u00a0'],
])('text is sent as UTF-8: %s', (value, sent) => {
  const { lines } = policyOf({ request: { set: [{ name: 'x', value }] } }).send({ headers: { y: 'voil\u00c3\u00a0' } })
  expect(lines).toEqual(['y: voil\u00c3\u00a0', `x: ${sent}`])
})

const pseudo: [name: string, value: string, state: object][] = [
  [':method', '"PUT"', { method: 'PUT' }],
  [':method', '"P T"', {}],
  [':method', '"CONNECT"', {}],
  [':method', '"put"', {}],
  [':path', '"/new?x=1"', { target: '/new?x=1' }],
  [':path', '"new"', {}],
  [':path', '"/a b"', {}],
  [':path', FAILS, {}],
  [':scheme', '"https"', { scheme: 'https' }],
  [':scheme', '"ftp"', {}],
  [':authority', '"other.test:81"', { authority: 'other.test:81', hostRewritten: true }],
  ['host', '"other.test"', { authority: 'other.test', hostRewritten: true }],
  ['Host', '"a/b"', {}],
  ['host', FAILS, {}],
]
for (const list of ['set', 'add']) {
  for (const [name, value, state] of pseudo) {
    test(`${list} ${name} to ${value}`, () => {
      const { exchange } = policyOf({ request: { [list]: [{ name, value }] } }).send({ target: '/old' })
      const { method, target, authority } = exchange.request
      expect({ method, target, authority, scheme: exchange.scheme, hostRewritten: exchange.hostRewritten }).toEqual({
        method: 'GET',
        target: '/old',
        authority: 'example.com',
        scheme: 'http',
        hostRewritten: false,
        ...state,
      })
      expect(exchange.request.getAll('host').length).toBe(1)
    })
  }
}

for (const [value, status] of [
  ['404', 404],
  ['"404"', 200],
  ['99', 200],
  ['101', 200],
  [FAILS, 200],
] as const) {
  test(`:status to ${value}`, () => {
    const { exchange } = policyOf({ response: { set: [{ name: ':status', value }] } }).answer({})
    expect(exchange.response?.status).toBe(status)
  })
}

test.each([
  [['llm.responseModel'], 1],
  [['string(llm.totalTokens)'], 1],
  [['llm.cost.total > 1.0 ? "high" : "low"'], 1],
  [['llm.serviceTier', 'string(size(response.body))'], 0],
  [['llm.requestModel'], 0],
])('facts of an LLM answer that no expression buffers are reported: %j', (values, reports) => {
  const set = values.map((value, i) => ({ name: `x-${i}`, value }))
  const { context } = policyOf({ response: { set } })
  expect(context.reports).toEqual(Array(reports).fill('no-effect spec.traffic.field.response'))
})

test('settings without effect are reported', () => {
  const { context } = policyOf({
    request: {
      set: [
        { name: ':status', value: '"1"' },
        { name: 'content-length', value: '"1"' },
      ],
      remove: [':path', 'host', 'connection'],
    },
    response: { add: [{ name: ':path', value: '"/x"' }] },
  })
  expect(context.reports).toEqual([
    'no-effect spec.traffic.field.request.set[0].name',
    'no-effect spec.traffic.field.request.set[1].name',
    'no-effect spec.traffic.field.request.remove[0]',
    'no-effect spec.traffic.field.request.remove[1]',
    'no-effect spec.traffic.field.request.remove[2]',
    'no-effect spec.traffic.field.response.add[0].name',
  ])
})

verifies(
  'traffic.transformation/body',
  'the body is replaced; a failed expression refuses the request instead of sending an empty body',
  () => {
    const echo = policyOf({ request: { body: 'request.body' }, response: { body: '42' } })
    expect(echo.run).toMatchObject({ readsRequestBody: true, readsResponseBody: false })
    expect(text(echo.send({ body: 'hello' }).exchange.newRequestBody)).toBe('hello')
    expect(text(echo.answer({ body: 'hello' }).exchange.newResponseBody)).toBe('42')

    const failing = policyOf({ request: { body: FAILS }, response: { body: 'response.headers["absent"]' } })
    expect(codeOf(failing.send().outcome)).toBe('transformation-request-failed')
    expect(codeOf(failing.answer({}).outcome)).toBe('transformation-response-failed')
    expect(codeOf(policyOf({ request: { body: 'broken (' } }).send().outcome)).toBe('transformation-request-failed')
  },
)

test('the detail has the reason of a failed body expression, without the data it read', () => {
  const body = 'json(request.body)["card"] + 1'
  const exchange = { body: '{"card":"4111111111111111"}' }
  expect(policyOf({ request: { body } }).send(exchange).outcome).toMatchObject({
    code: 'transformation-request-failed',
    detail: `spec.traffic.field.request.body of ProxyPolicy default/test: no such overload: string + int (column 1)\n${body}\n^`,
  })
  const response = { body: 'string(response.code) +\n  response.headers["absent"]' }
  expect(policyOf({ response }).answer({}).outcome).toMatchObject({
    code: 'transformation-response-failed',
    detail:
      'spec.traffic.field.response.body of ProxyPolicy default/test: no such key: response.headers.absent (line 2, column 3)\n' +
      '  response.headers["absent"]\n  ^',
  })
})

const ENDLESS = 'string(lists.range(100000).exists(x, lists.range(100000).exists(y, request.path == "x")))'

test.each([
  ['a header', { set: [{ name: 'x', value: ENDLESS }] }],
  ['a pseudo-header', { set: [{ name: ':path', value: ENDLESS }] }],
  ['metadata', { metadata: { a: ENDLESS } }],
  ['the body', { body: ENDLESS }],
])('a limit in %s is recorded on the exchange', (_, request) => {
  expect(policyOf({ request }).send().exchange.exceeded).toMatch(
    /^spec\.traffic\.field\.request\.\S+ of ProxyPolicy default\/test: evaluation takes too many steps \(column 38\)/,
  )
})

test('a limit in a condition selects no item, and is recorded', () => {
  const policy = policyOf({ conditional: [{ condition: `${ENDLESS} == "true"`, policy: step('"one"') }] })
  expect(policy.send().exchange.exceeded).toContain('conditional[0].condition')
})

verifies(
  'traffic.transformation/metadata',
  'metadata is stored, failed expressions are left out, the response overwrites values of the request',
  () => {
    const policy = policyOf({
      request: { metadata: { a: '"request"', b: '42', c: FAILS } },
      response: { metadata: { a: '"response"' } },
    })
    expect({ ...policy.send().exchange.metadata }).toEqual({ a: 'request', b: 42 })
    expect({ ...policy.answer({}).exchange.metadata }).toEqual({ a: 'response', b: 42 })
  },
)

const step = (value: string) => ({
  request: { set: [{ name: 'x', value }] },
  response: { set: [{ name: 'y', value }] },
})

test('a refusal keeps its status and body: only its other headers change', () => {
  const written = {
    response: {
      set: [
        { name: ':status', value: '200' },
        { name: 'x', value: '"1"' },
      ],
      body: FAILS,
    },
  }
  const run = transformation.compile([sourceOf(specFrom(trafficTransformation, written))], contextWith())!
  const exchange = exchangeWith({ status: 403 })
  exchange.responseIsRefusal = true
  expect(run.response?.(exchange)).toBe(undefined)
  expect([exchange.response?.status, exchange.response?.get('x'), exchange.newResponseBody]).toEqual([
    403,
    '1',
    undefined,
  ])
})

test('the first conditional item whose condition is true applies to the request and to the response', () => {
  const policy = policyOf({
    conditional: [
      { condition: 'request.headers["x"] == "1"', policy: step('"one"') },
      { condition: 'request.headers["x"] == "2"', policy: { request: { remove: ['x'] } } },
      { policy: step('"other"') },
    ],
  })
  const outcomes = ['1', '2', '3'].map((x) => {
    const { exchange } = policy.answer({ headers: { x } })
    return [exchange.request.get('x'), exchange.response?.get('y')]
  })
  // The first condition is false for the response, which does not matter.
  expect(outcomes).toEqual([
    ['one', 'one'],
    [undefined, undefined],
    ['other', 'other'],
  ])
})

test('the selected item is not kept for the next request', () => {
  const policy = policyOf({ conditional: [{ condition: 'request.headers["x"] == "1"', policy: step('"one"') }] })
  const { exchange } = policy.answer({ headers: { x: '1' } })
  exchange.request.set('x', '2')
  exchange.response!.remove('y')
  policy.run.request!(exchange)
  policy.run.response!(exchange)
  expect(exchange.response!.has('y')).toBe(false)
})

test('the fields that it sets or removes are named, because trailers must not bring them again', () => {
  const header = (name: string) => ({ name, value: '"1"' })
  const { run } = policyOf({
    request: { add: [header('x-c')], set: [header('x-a')], remove: ['x-b'] },
    response: { set: [header('x-d')] },
  })
  expect(run.fields).toEqual({ request: ['x-a', 'x-b'], response: ['x-d'] })
})
