import { expect, test } from 'vitest'
import { BODY_LENGTH, type BodySink } from '../stream.ts'
import { BodyReader } from './body-reader.ts'

test('a sink that comes after the body broke off hears of it, and nothing is read for it', () => {
  const events: string[] = []
  const reader = new BodyReader({ bodyWanted: () => events.push('wanted'), bodyHeld: () => events.push('held') })
  const sink: BodySink = {
    backed: false,
    source: null,
    takesFramed: false,
    bytes: () => events.push('bytes'),
    end: () => events.push('end'),
    abort: (why) => events.push(`abort ${why}`),
  }
  reader.start(BODY_LENGTH, 5)
  reader.abort('reset')
  reader.pipe(sink)
  expect(events).toEqual(['abort reset'])
  expect(sink.source).toBe(null)
})
