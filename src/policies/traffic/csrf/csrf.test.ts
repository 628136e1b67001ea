import { expect, test } from 'vitest'
import { verifies } from '#test/support/verifies.ts'
import {
  codeOf,
  contextWith,
  type ExchangeInputs,
  exchangeWith,
  type Fields,
  sourceOf,
  specFrom,
} from '../../shared/testing.ts'
import { csrf } from './index.ts'
import { trafficCsrf } from './schema.ts'

const POLICY = csrf.compile(
  [
    sourceOf(
      specFrom(trafficCsrf, {
        additionalOrigins: ['https://Partner.test', 'http://partner.test:8080', 'https://p.test:443'],
      }),
    ),
  ],
  contextWith(),
)!

function check(request: ExchangeInputs): string {
  return codeOf(POLICY.request!(exchangeWith(request)))
}

const post = (headers: Fields): ExchangeInputs => ({ method: 'POST', headers })
const PASS = 'proceed'
const REFUSED = 'csrf-failed'
const FOREIGN = 'https://evil.test'

verifies('traffic.csrf/safe-methods', 'requests with safe methods pass, whatever their headers', () => {
  const headers = { 'sec-fetch-site': 'cross-site', origin: FOREIGN }
  for (const method of ['GET', 'HEAD', 'OPTIONS']) expect(check({ method, headers })).toBe(PASS)
  for (const method of ['POST', 'PUT', 'DELETE', 'PATCH']) expect(check({ method, headers })).toBe(REFUSED)
})

verifies('traffic.csrf/no-headers', 'a request with neither header passes', () => {
  expect(check(post({ referer: FOREIGN }))).toBe(PASS)
})

type Case = [headers: Fields, outcome: string]

verifies('traffic.csrf/sec-fetch-site', 'Sec-Fetch-Site decides if present', () => {
  const cases: Case[] = [
    [{ 'sec-fetch-site': 'same-origin' }, PASS],
    [{ 'sec-fetch-site': 'none' }, PASS],
    [{ 'sec-fetch-site': 'same-origin', origin: FOREIGN }, PASS],
    [{ 'sec-fetch-site': 'same-site' }, REFUSED],
    [{ 'sec-fetch-site': 'cross-site' }, REFUSED],
    [{ 'sec-fetch-site': '' }, REFUSED],
    [{ 'sec-fetch-site': 'Same-Origin' }, REFUSED],
    [{ 'sec-fetch-site': 'same-site', origin: 'http://example.com' }, REFUSED],
    [{ 'sec-fetch-site': 'cross-site', origin: 'https://partner.test' }, PASS],
    [{ 'sec-fetch-site': ['same-origin', 'same-origin'] }, REFUSED],
  ]
  for (const [headers, outcome] of cases) expect(check(post(headers)), JSON.stringify(headers)).toBe(outcome)
})

verifies('traffic.csrf/origin-against-host', 'without Sec-Fetch-Site, the Origin must match the Host', () => {
  const cases: Case[] = [
    [{ origin: 'http://example.com' }, PASS],
    [{ origin: 'https://example.com' }, PASS],
    [{ origin: 'HTTP://EXAMPLE.com' }, PASS],
    [{ origin: 'http://example.com:80' }, PASS],
    [{ origin: 'http://example.com:8080' }, REFUSED],
    [{ origin: 'http://example.com:8080', host: 'example.com:8080' }, PASS],
    [{ origin: 'http://example.com', host: 'example.com:8080' }, REFUSED],
    [{ origin: 'https://example.com', host: 'example.com:443' }, PASS],
    [{ origin: 'http://example.com', host: 'example.com:443' }, REFUSED],
    [{ origin: 'http://[::1]:8080', host: '[::1]:8080' }, PASS],
    [{ origin: 'http://sub.example.com' }, REFUSED],
    [{ origin: 'http://example.com.evil.test' }, REFUSED],
    [{ origin: 'http://example.com/' }, REFUSED],
    [{ origin: 'http://u@example.com' }, REFUSED],
    [{ origin: 'null' }, REFUSED],
    [{ origin: '' }, REFUSED],
    [{ origin: 'example.com' }, REFUSED],
    [{ origin: 'ftp://example.com' }, REFUSED],
    [{ origin: ['http://example.com', 'http://example.com'] }, REFUSED],
  ]
  for (const [headers, outcome] of cases) expect(check(post(headers)), JSON.stringify(headers)).toBe(outcome)
})

verifies('traffic.csrf/additionalOrigins', 'listed origins pass; they are compared as parsed origins', () => {
  const cases: Case[] = [
    [{ origin: 'https://partner.test' }, PASS],
    [{ origin: 'https://partner.test:443' }, PASS],
    [{ origin: 'https://p.test' }, PASS],
    [{ origin: 'http://partner.test:8080' }, PASS],
    [{ origin: 'http://partner.test' }, REFUSED],
    [{ origin: 'https://partner.test:8443' }, REFUSED],
    [{ origin: 'https://partner.test:8080' }, REFUSED],
    [{ origin: 'http://p.test:443' }, REFUSED],
    [{ origin: 'https://sub.partner.test' }, REFUSED],
  ]
  for (const [headers, outcome] of cases) expect(check(post(headers)), JSON.stringify(headers)).toBe(outcome)
})

test('the host is that of the request as received, despite later changes', () => {
  const own = exchangeWith(post({ origin: 'http://example.com' }))
  own.request.authority = 'backend.test'
  expect(codeOf(POLICY.request!(own))).toBe(PASS)
  const foreign = exchangeWith(post({ origin: FOREIGN }))
  foreign.request.authority = 'evil.test'
  expect(codeOf(POLICY.request!(foreign))).toBe(REFUSED)
})

test('the policy reads the request as received', () => {
  const exchange = exchangeWith(post({ origin: FOREIGN, 'sec-fetch-site': 'cross-site' }))
  exchange.request.method = 'GET'
  exchange.request.remove('origin')
  exchange.request.set('sec-fetch-site', 'same-origin')
  exchange.request.authority = 'evil.test'
  expect(codeOf(POLICY.request!(exchange))).toBe(REFUSED)
})

test('an invalid origin allows nothing and is reported', () => {
  const context = contextWith()
  csrf.compile([sourceOf({ additionalOrigins: ['*'] })], context)
  expect(context.reports).toEqual(['invalid-origin spec.traffic.field.additionalOrigins[0]'])
})
