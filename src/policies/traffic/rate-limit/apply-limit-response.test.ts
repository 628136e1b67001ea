import { expect, test } from 'vitest'
import { exchangeWith, linesOf } from '../../shared/testing.ts'
import { applyLimitResponse } from './apply-limit-response.ts'
import type { LimitResponse } from './limit-messages.ts'

const WITHIN = 1
const OVER = 2
const INVALID = Buffer.from('a\nb')

function applied(response: LimitResponse, headers: Readonly<Record<string, string>> = {}) {
  const exchange = exchangeWith({ headers })
  return { exchange, outcome: applyLimitResponse(response, 'the policy', exchange) }
}

test.each([
  ['no body', undefined, undefined],
  ['an empty body', Buffer.alloc(0), undefined],
  ['a body of one byte', Buffer.from('x'), Buffer.from('x')],
])('%s of a service above its limit', (_, rawBody, bytes) => {
  const response = { overallCode: OVER, ...(rawBody && { rawBody }) }
  expect(applied(response).outcome).toMatchObject({ code: 'rate-limited', detail: 'the policy', bytes })
})

test('the client gets the wait of the exhausted limit that ends last, and its name', () => {
  const limit = (code: number, seconds: number, unit?: number) => ({
    code,
    currentLimit: { requestsPerUnit: 7, ...(unit !== undefined && { unit }) },
    durationUntilReset: { seconds },
  })
  const refused = (statuses: LimitResponse['statuses'], headers: LimitResponse['responseHeadersToAdd'] = []) =>
    applied({ overallCode: OVER, statuses, responseHeadersToAdd: headers }).outcome
  expect(refused([limit(OVER, 30, 2), limit(OVER, 90, 3), limit(WITHIN, 900, 4)])).toMatchObject({
    headers: [['retry-after', '90']],
    limit: expect.stringMatching(/^7 per hour; wait until \d{4}-.*Z$/),
  })
  for (const unit of [undefined, 0, 99]) {
    expect(refused([limit(OVER, 90, unit)])).toMatchObject({ limit: expect.stringMatching(/^wait until .*Z$/) })
  }
  const unknown = { headers: [], limit: undefined }
  expect(refused([])).toMatchObject(unknown)
  expect(refused([{ code: OVER }, limit(WITHIN, 90, 3)])).toMatchObject(unknown)
  const own = [{ key: 'Retry-After', value: '5' }]
  expect(refused([limit(OVER, 90, 3)], own)).toMatchObject({ headers: [['retry-after', '5']] })
  expect(refused([], own)).toMatchObject({ headers: [['retry-after', '5']] })
})

test('every code but OK refuses', () => {
  for (const overallCode of [undefined, 0, 2, 3]) {
    expect(applied(overallCode === undefined ? {} : { overallCode }).outcome).toMatchObject({ code: 'rate-limited' })
  }
  expect(applied({ overallCode: WITHIN }).outcome).toBeUndefined()
})

test('an invalid value is not sent to the client, and removes the header from the request', () => {
  const invalid = { key: 'X-Plan', rawValue: INVALID }
  const { exchange } = applied(
    { overallCode: WITHIN, responseHeadersToAdd: [invalid], requestHeadersToAdd: [invalid] },
    { 'x-plan': 'gold', accept: '*/*' },
  )
  expect(exchange.queuedHeaders ?? []).toEqual([])
  expect(linesOf(exchange.request)).toEqual(['accept: */*'])
})

test('of several limits, the one with the fewest requests left is described; missing numbers are 0', () => {
  const limit = (requestsPerUnit: number) => ({ currentLimit: { requestsPerUnit } })
  const statuses = [
    { limitRemaining: 0 },
    { ...limit(10), limitRemaining: 5, durationUntilReset: { seconds: 7 } },
    { ...limit(20), limitRemaining: 3, durationUntilReset: { seconds: 9 } },
    { ...limit(30), limitRemaining: 4 },
  ]
  const queued = (response: LimitResponse) => Object.fromEntries(applied(response).exchange.queuedHeaders ?? [])
  expect(queued({ overallCode: WITHIN, statuses })).toEqual({
    'x-ratelimit-limit': '20',
    'x-ratelimit-remaining': '3',
    'x-ratelimit-reset': '9',
  })
  expect(queued({ overallCode: WITHIN, statuses: [...statuses, { currentLimit: {} }] })).toEqual({
    'x-ratelimit-limit': '0',
    'x-ratelimit-remaining': '0',
    'x-ratelimit-reset': '0',
  })
  expect(queued({ overallCode: WITHIN, statuses: [{ limitRemaining: 1 }] })).toEqual({})
  const one = { ...limit(1), limitRemaining: 1 }
  const none = { ...limit(2), limitRemaining: 0 }
  for (const pair of [
    [one, limit(3)],
    [limit(3), none],
  ]) {
    expect(queued({ overallCode: WITHIN, statuses: pair })).toMatchObject({ 'x-ratelimit-limit': '3' })
  }
})
