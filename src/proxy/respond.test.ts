import { expect, test, vi } from 'vitest'
import { FixedBody } from '#net/body/fixed-body.ts'
import { exchangeWith, linesOf } from '#policies/shared/testing.ts'
import type { InFlight } from './in-flight.ts'
import { fail, sendBody } from './respond.ts'

test('a bug after the head of the response is reported, and resets the response', () => {
  const [bug, abort] = [vi.fn(), vi.fn()]
  const error = new Error('broken')
  const flight = { context: { observer: { bug } }, decisionId: 'd', responded: true, stream: { abort } }
  fail(flight as unknown as InFlight, error)
  expect(bug).toHaveBeenCalledWith('d', error)
  expect(abort).toHaveBeenCalledOnce()
})

test('fields that policies queued replace those of the backend, and one that is queued more than once has all values', () => {
  const exchange = exchangeWith({ status: 200, responseHeaders: { 'set-cookie': 'backend', vary: 'backend' } })
  exchange.queuedHeaders = [
    ['set-cookie', 'first'],
    ['x-policy', 'one'],
    ['set-cookie', 'second'],
    ['vary', 'policy'],
  ]
  const head = exchange.response!
  const [stream, bodies, context] = [{ respond: () => true }, { response: { send: () => {} } }, { now: () => 0 }]
  sendBody({ exchange, stream, bodies, context } as unknown as InFlight, head, new FixedBody(''))
  expect(linesOf(head).sort()).toEqual(['set-cookie: first', 'set-cookie: second', 'vary: policy', 'x-policy: one'])
})
