import { expect, test } from 'vitest'
import { exchangeWith } from '#policies/shared/testing.ts'

test('nothing has happened in a new exchange', () => {
  expect(exchangeWith()).toMatchObject({
    exceeded: undefined,
    queuedHeaders: undefined,
    attempts: undefined,
    retries: 0,
    refusal: undefined,
    refusalDetail: undefined,
    responseIsRefusal: false,
    reason: 'Upstream',
    trace: undefined,
  })
})
