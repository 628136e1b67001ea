import { expect, test } from 'vitest'
import { NO_PLAN_NAMES } from '#exchange/exchange.ts'
import { DecisionIds } from './decision-ids.ts'
import { DecisionRing } from './decision-ring.ts'
import { keptDecision } from './testing.ts'

const ids = new DecisionIds()

function fill(ring: DecisionRing, from: number, to: number): void {
  for (let number = from; number <= to; number++) ring.keep(keptDecision({ number, target: `/${number}` }))
}

test('an empty ring has no records', () => {
  expect(new DecisionRing('w1', ids, 3).list()).toEqual([])
})

test('the newest is first, with the id that the client got', () => {
  const ring = new DecisionRing('w2', ids, 5)
  fill(ring, 35, 37)
  expect(ring.list().map(({ id, worker, target }) => `${id} ${worker} ${target}`)).toEqual(
    [37, 36, 35].map((number) => `${ids.idOf(number)} w2 /${number}`),
  )
})

test('a full ring forgets the oldest', () => {
  const ring = new DecisionRing('w', ids, 3)
  fill(ring, 1, 8)
  expect(ring.list().map(({ target }) => target)).toEqual(['/8', '/7', '/6'])
})

test('requests that end out of order are listed by number', () => {
  const ring = new DecisionRing('w', ids, 3)
  for (const number of [2, 3, 1]) ring.keep(keptDecision({ number }))
  expect(ring.list().map(({ id }) => id)).toEqual([3, 2, 1].map((number) => ids.idOf(number)))
})

test('a record names the place of its request, and hides credentials of the target', () => {
  const ring = new DecisionRing('w', ids, 1)
  const names = { ...NO_PLAN_NAMES, gateway: 'default/edge', route: 'default/shop' }
  ring.keep(keptDecision({ names, target: '/p?token=a&shop=b&c=d', redactedParameters: ['shop'] }))
  const [record] = ring.list()
  expect(record).toMatchObject({ gateway: 'default/edge', route: 'default/shop', backend: '' })
  expect(record!.target).toBe('/p?token=<redacted>&shop=<redacted>&c=d')
  expect(Object.keys(record!)).not.toContain('redactedParameters')
})

test('a list is a copy: later requests do not change it', () => {
  const ring = new DecisionRing('w', ids, 1)
  fill(ring, 1, 1)
  const list = ring.list()
  fill(ring, 2, 2)
  expect(list.map(({ target }) => target)).toEqual(['/1'])
  expect(Object.keys(list[0]!)).not.toContain('number')
})

test('some decisions after a number, oldest first, and how many the ring has forgotten', () => {
  const ring = new DecisionRing('w', ids, 4)
  fill(ring, 1, 6)
  const after = (number: number, most: number) => {
    const { count, records, lost } = ring.listAfter(number, most)
    return [count, records.map(({ target }) => target), lost]
  }
  expect(after(0, 10)).toEqual([6, ['/3', '/4', '/5', '/6'], 2])
  expect(after(3, 2)).toEqual([5, ['/4', '/5'], 0])
  expect(after(5, 2)).toEqual([6, ['/6'], 0])
  expect(after(6, 2)).toEqual([6, [], 0])
  expect(after(Number.POSITIVE_INFINITY, 2)).toEqual([6, [], 0])
})

test('the number of all decisions is in memory that outlives the worker', () => {
  const counter = new Float64Array(new SharedArrayBuffer(8))
  const ring = new DecisionRing('w', new DecisionIds(), 2, counter)
  for (const target of ['/a', '/b', '/c']) ring.keep(keptDecision({ target }))
  expect(counter[0]).toBe(3)
})
