import { expect, test } from 'vitest'
import { IdleConnections } from './idle-connections.ts'

test('of more than 512 idle connections, the one that has been idle for longest is closed', () => {
  const idle = new IdleConnections()
  const closed: number[] = []
  const connections = Array.from({ length: 514 }, (_, i) => ({ i }))
  const add = (i: number) => idle.add(connections[i]!, () => closed.push(i))
  for (let i = 0; i < 512; i++) add(i)
  idle.remove(connections[0]!)
  add(1)
  add(512)
  expect(closed).toEqual([])
  add(513)
  expect([closed, idle.size]).toEqual([[2], 512])
})
