import { expect, test } from 'vitest'
import { verifies } from '#test/support/verifies.ts'
import { codeOf, contextWith, exchangeWith, linesOf, sourceOf, specFrom } from '../../shared/testing.ts'
import { headerModifiers } from './index.ts'
import { trafficHeaderModifiers } from './schema.ts'

function policyOf(written: object) {
  const context = contextWith()
  return { context, run: headerModifiers.compile([sourceOf(specFrom(trafficHeaderModifiers, written))], context)! }
}

const FIELDS = { 'x-a': ['1', '2'], 'x-b': 'b' }
const field = (name: string, value: string) => ({ name, value })

const cases: [filter: object, lines: string[]][] = [
  // filter                                              x-a: 1, x-a: 2, x-b: b become
  [{ set: [field('X-A', 'new')] }, ['x-b: b', 'x-a: new']],
  [{ add: [field('X-A', '3')] }, ['x-a: 1', 'x-a: 2', 'x-b: b', 'x-a: 3']],
  [{ remove: ['X-A', 'x-none'] }, ['x-b: b']],
  [{ remove: ['X_A'] }, ['x-b: b']],
  [{ set: [field('x_b', '3')] }, ['x-a: 1', 'x-a: 2', 'x_b: 3']],
  [{ add: [field('x-b', '2')], set: [field('x-b', '3')] }, ['x-a: 1', 'x-a: 2', 'x-b: 3']],
  [{ set: [field('x-a', '3')], remove: ['x-a'] }, ['x-b: b']],
  [{ set: [field('x-b', 'caf\u00e9')] }, ['x-a: 1', 'x-a: 2', 'x-b: caf\u00c3\u00a9']],
  [{ set: [field('x-b', ' voil\u00e0 ')] }, ['x-a: 1', 'x-a: 2', 'x-b: voil\u00c3\u00a0']],
]

verifies('traffic.headerModifiers/request', 'headers of the request: add, set, remove', () => {
  for (const [request, lines] of cases) {
    const exchange = exchangeWith({ headers: FIELDS })
    policyOf({ request }).run.request!(exchange)
    expect(linesOf(exchange.request), JSON.stringify(request)).toEqual(lines)
  }
})

verifies('traffic.headerModifiers/response', 'headers of the response: add, set, remove', () => {
  for (const [response, lines] of cases) {
    const exchange = exchangeWith({ status: 200, responseHeaders: FIELDS })
    policyOf({ response }).run.response!(exchange)
    expect(linesOf(exchange.response!), JSON.stringify(response)).toEqual(lines)
  }
})

for (const list of ['add', 'set']) {
  test(`${list} host changes the authority and disables the automatic rewrite`, () => {
    const exchange = exchangeWith()
    policyOf({ request: { [list]: [field('Host', 'other.test:81')] } }).run.request!(exchange)
    expect(exchange.request.getAll('host')).toEqual(['other.test:81'])
    expect(exchange.hostRewritten).toBe(true)
  })
}

test('fields that policies cannot change are reported', () => {
  const { context, run } = policyOf({
    request: { set: [field('Connection', 'close')], remove: ['host', 'transfer-encoding'] },
    response: { add: [field('content-length', '3')] },
  })
  const exchange = exchangeWith()
  expect(codeOf(run.request!(exchange))).toBe('proceed')
  expect(exchange.request.authority).toBe('example.com')
  expect(context.reports).toEqual([
    'no-effect spec.traffic.field.request.set[0]',
    'no-effect spec.traffic.field.request.remove[0]',
    'no-effect spec.traffic.field.request.remove[1]',
    'no-effect spec.traffic.field.response.add[0]',
  ])
})

for (const [name, value] of [
  ['x-a', 'two\r\nlines'],
  ['host', 'a b'],
] as const) {
  test(`an invalid value refuses requests: ${name}`, () => {
    const { context, run } = policyOf({ request: { set: [field(name, value)] } })
    expect(codeOf(run.request!(exchangeWith()))).toBe('filter-failed')
    expect(context.reports).toEqual(['header-invalid spec.traffic.field.request.set[0]'])
  })
}

test('an invalid value refuses responses', () => {
  const { context, run } = policyOf({ response: { set: [field('x-a', 'two\r\nlines')] } })
  expect(codeOf(run.response!(exchangeWith({ status: 200 })))).toBe('filter-failed')
  expect(context.reports).toEqual(['header-invalid spec.traffic.field.response.set[0]'])
})

test('an invalid name refuses requests, because the intended header would not be changed', () => {
  const { context, run } = policyOf({ request: { remove: ['x-a', 'x internal'] } })
  expect(codeOf(run.request!(exchangeWith()))).toBe('filter-failed')
  expect(context.reports).toEqual(['header-invalid spec.traffic.field.request.remove[1]'])
})

test('an invalid header refuses responses', () => {
  const { context, run } = policyOf({ response: { set: [field('x-a', 'two\r\nlines')] } })
  expect(codeOf(run.response!(exchangeWith({ status: 200 })))).toBe('filter-failed')
  expect(context.reports).toEqual(['header-invalid spec.traffic.field.response.set[0]'])
})

test('a modifier of only one message leaves the other unchanged', () => {
  expect(policyOf({ request: { remove: ['x'] } }).run.response).toBeUndefined()
  expect(policyOf({ response: { remove: ['x'] } }).run.request).toBeUndefined()
})
