import { expect, test } from 'vitest'
import { VirtualTime } from '#test/support/virtual-time.ts'
import { StreamPings } from './stream-pings.ts'

test('a ping for every 15 seconds of silence, until the end', async () => {
  using time = new VirtualTime()
  let pings = 0
  const stream = new StreamPings(() => {
    pings++
  })
  await time.pass(14_000)
  stream.wrote()
  await time.pass(14_999)
  expect(pings).toBe(0)
  await time.pass(1)
  expect(pings).toBe(1)
  await time.pass(30_000)
  expect(pings).toBe(3)
  stream.stop()
  await time.pass(60_000)
  expect([pings, time.nextMs]).toEqual([3, undefined])
})
