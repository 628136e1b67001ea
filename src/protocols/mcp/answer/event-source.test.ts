import { expect, test } from 'vitest'
import { FakeUpstream } from '#net/testing/fake-upstream.ts'
import { roomFor } from '#net/testing/room-for.ts'
import { TargetEvents } from '../target/target-events.ts'
import { EventSource, type StreamEvent } from './event-source.ts'

test('twenty thousand events that arrive together are read one after the other, in order', () => {
  const upstream = Object.assign(new FakeUpstream(), {
    [Symbol.asyncIterator]: () => {
      throw new Error('it is piped')
    },
  })
  const events = new TargetEvents(upstream, roomFor(0).claim)
  const source = new EventSource(events, ({ eventId }) => ({ text: '', id: eventId }))
  const arrived: StreamEvent[] = []
  source.start({
    arrived: (event, from) => {
      arrived.push(event)
      from.read()
    },
    ended: () => arrived.push({ text: 'end' }),
    failed: (error) => arrived.push({ text: `${error}` }),
  })
  upstream.send(Array.from({ length: 20_000 }, (_, i) => `id: ${i}\n\n`).join(''))
  upstream.end()
  expect(arrived.map(({ id }) => id)).toEqual([...Array.from({ length: 20_000 }, (_, i) => `${i}`), undefined])
})
