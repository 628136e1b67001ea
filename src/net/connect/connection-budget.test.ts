import { expect, test } from 'vitest'
import type { Destination } from '../destination.ts'
import { ConnectionBudgets, type RoomSeeker } from './connection-budget.ts'

const to = (more: Partial<Destination> = {}): Destination => ({
  key: 'k',
  host: '127.0.0.1',
  port: 80,
  connectTimeoutMs: 1000,
  bounds: { maxConnections: 2, maxWaiting: 0 },
  ...more,
})

test('connections to one address count together, whatever their protocol; those to other addresses do not', () => {
  const budgets = new ConnectionBudgets()
  expect(budgets.take(to())).toBe(true)
  expect(budgets.take(to({ key: 'other TLS', http: 'http2' }))).toBe(true)
  expect(budgets.take(to())).toBe(false)
  expect(budgets.take(to({ port: 81 }))).toBe(true)
  expect(budgets.take(to({ unixPath: '/a' }))).toBe(true)
  budgets.give(to())
  expect(budgets.take(to())).toBe(true)
})

test('each request has its own limit', () => {
  const budgets = new ConnectionBudgets()
  for (let i = 0; i < 2; i++) budgets.take(to())
  expect(budgets.take(to({ bounds: { maxConnections: 3, maxWaiting: 0 } }))).toBe(true)
})

test('a request without room is notified when a connection ends, until it gets one', () => {
  const budgets = new ConnectionBudgets()
  const got: string[] = []
  const seeker = (name: string): RoomSeeker => {
    const self = { roomToConnect: () => void (budgets.take(to(), self) && got.push(name)) }
    return self
  }
  for (let i = 0; i < 2; i++) budgets.take(to())
  const [one, two] = ['one', 'two'].map(seeker)
  one!.roomToConnect()
  two!.roomToConnect()
  expect(got).toEqual([])
  budgets.give(to())
  expect(got).toEqual(['one'])
  budgets.give(to())
  expect(got).toEqual(['one', 'two'])
  budgets.give(to())
  expect(got).toHaveLength(2)
})
