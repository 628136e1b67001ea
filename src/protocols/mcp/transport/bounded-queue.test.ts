import { expect, test } from 'vitest'
import { BoundedQueue } from './bounded-queue.ts'

test('a writer waits while the queue is full, and goes on when a value was taken', async () => {
  const queue = new BoundedQueue<number>(2)
  expect(queue.put(1)).toBeUndefined()
  const room = queue.put(2)
  expect(room).toBeInstanceOf(Promise)
  const values = queue.read()
  expect(await values.next()).toEqual({ done: false, value: 1 })
  await room
  queue.end(new Error('over'))
  expect(queue.put(3)).toBeUndefined()
  expect(await values.next()).toEqual({ done: false, value: 2 })
  await expect(values.next()).rejects.toThrow('over')
})
