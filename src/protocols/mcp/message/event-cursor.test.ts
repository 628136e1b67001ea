import { expect, test } from 'vitest'
import { testSealer } from '#test/support/test-sealer.ts'
import { openEventCursor, sealEventCursor } from './event-cursor.ts'

test('a position is of one session', () => {
  const sealer = testSealer()
  const cursor = { events: { a: '7' }, request: 1 }
  const id = sealEventCursor(sealer, 'one', cursor)
  expect(openEventCursor(sealer, 'one', id)).toEqual(cursor)
  expect(openEventCursor(sealer, 'two', id)).toBeUndefined()
  expect(openEventCursor(sealer, 'one', '7')).toBeUndefined()
})
