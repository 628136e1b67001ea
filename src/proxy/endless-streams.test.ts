import { expect, test, vi } from 'vitest'
import { EndlessStreams } from './endless-streams.ts'

test('a stream ends with the gateway, also if it begins during the shutdown', () => {
  const streamOf = (ended: boolean) => ({ ended, responded: true, stream: { response: { end: vi.fn() } } })
  const shutdown = new AbortController()
  const streams = new EndlessStreams(shutdown.signal)
  const [early, over, late, lateOver] = [streamOf(false), streamOf(true), streamOf(false), streamOf(true)]
  streams.add(early as never)
  streams.add(over as never)
  expect(streams.size).toBe(1)
  shutdown.abort()
  streams.add(late as never)
  streams.add(lateOver as never)
  const ends = [early, over, late, lateOver].map(({ stream }) => stream.response.end.mock.calls.length)
  expect(ends).toEqual([1, 0, 1, 0])
})
