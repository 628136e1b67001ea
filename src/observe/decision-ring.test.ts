import { expect, test } from 'vitest'
import { DecisionRing, decisionId } from './decision-ring.ts'

function fill(ring: DecisionRing, from: number, to: number): void {
  for (let number = from; number <= to; number++) {
    const record = ring.take()
    record.number = number
    record.target = `/${number}`
  }
}

test('an empty ring has no records', () => {
  expect(new DecisionRing('w1', 3).list()).toEqual([])
})

test('the newest comes first, with the id that the client was shown', () => {
  const ring = new DecisionRing('w2', 5)
  fill(ring, 35, 37)
  expect(ring.list().map(({ id, target }) => `${id} ${target}`)).toEqual(['w2-11 /37', 'w2-10 /36', 'w2-z /35'])
  expect(decisionId('w2', 37)).toBe('w2-11')
})

test('a full ring forgets the oldest', () => {
  const ring = new DecisionRing('w', 3)
  fill(ring, 1, 8)
  expect(ring.list().map(({ target }) => target)).toEqual(['/8', '/7', '/6'])
})

test('requests that end out of order are listed by number', () => {
  const ring = new DecisionRing('w', 3)
  for (const number of [2, 3, 1]) ring.take().number = number
  expect(ring.list().map(({ id }) => id)).toEqual(['w-3', 'w-2', 'w-1'])
})

test('a list is a copy: later requests do not change it', () => {
  const ring = new DecisionRing('w', 1)
  fill(ring, 1, 1)
  const list = ring.list()
  fill(ring, 2, 2)
  expect(list.map(({ target }) => target)).toEqual(['/1'])
  expect(Object.keys(list[0]!)).not.toContain('number')
})
