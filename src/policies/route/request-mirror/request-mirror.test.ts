import { expect, test } from 'vitest'
import { contextWith, exchangeWith, runContext, sourceOf } from '../../shared/testing.ts'
import { requestMirror } from './index.ts'

const ONE = 'Service/default/one/80'
const TWO = 'ProxyBackend/default/two'

/** Backends that get a copy, for each random number. */
function copiesAt(random: readonly number[], ...filters: [backend: string, numerator: number, denominator: number][]) {
  const spec = filters.map(([backend, numerator, denominator]) => ({ backend, numerator, denominator }))
  const run = requestMirror.compile([sourceOf(spec as never)], contextWith())
  return random.map((number) => {
    const exchange = exchangeWith()
    exchange.context = runContext({ random: () => number })
    expect(run?.request?.(exchange)).toBeUndefined()
    return exchange.mirrors
  })
}

test('every request by default, and to each backend of several filters', () => {
  expect(copiesAt([0, 0.999], [ONE, 100, 100], [TWO, 1, 1])).toEqual([
    [ONE, TWO],
    [ONE, TWO],
  ])
})

test('a fraction of the requests', () => {
  expect(copiesAt([0, 0.0999, 0.1], [ONE, 10, 100])).toEqual([[ONE], [ONE], undefined])
  expect(copiesAt([0.333, 0.334], [ONE, 1, 3], [TWO, 2, 3])).toEqual([[ONE, TWO], [TWO]])
})

test('explain is told the fractions', () => {
  const copies: unknown[] = []
  const exchange = exchangeWith()
  exchange.trace = {
    isCalling: false,
    step() {},
    limit() {},
    callout() {},
    credential() {},
    note() {},
    copy: (...copy) => copies.push(copy),
  }
  const spec = [
    { backend: ONE, numerator: 10, denominator: 100 },
    { backend: TWO, numerator: 1, denominator: 1 },
  ]
  requestMirror.compile([sourceOf(spec as never)], contextWith())!.request!(exchange)
  expect(copies).toEqual([
    [ONE, 10, 100],
    [TWO, 1, 1],
  ])
})

test('no copies at 0 percent, and without a usable backend', () => {
  expect(copiesAt([0], [ONE, 0, 100])).toEqual([undefined])
  expect(copiesAt([0])).toEqual([undefined])
  expect(requestMirror.compile([sourceOf([] as never)], contextWith())).toBeUndefined()
})
