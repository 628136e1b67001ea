import { expect, test } from 'vitest'
import { Head } from '#net/http/head.ts'
import type { RouteType } from '../policy-schema.ts'
import { translateHead } from './translate-head.ts'

test.each<[client: RouteType, fields: Readonly<Record<string, string>>, added: Readonly<Record<string, string>>]>([
  ['Completions', { 'request-id': 'req_1' }, { 'x-request-id': 'req_1' }],
  ['Messages', { 'x-request-id': 'r-2' }, { 'request-id': 'r-2' }],
  ['Responses', { 'x-amzn-requestid': 'r-3' }, { 'x-request-id': 'r-3' }],
  ['Messages', { 'x-request-id': 'a', 'request-id': 'b' }, {}],
  [
    'Completions',
    {
      'anthropic-ratelimit-requests-limit': '50',
      'anthropic-ratelimit-tokens-remaining': '7',
      'anthropic-ratelimit-requests-reset': '2026-01-01T00:00:00Z',
    },
    { 'x-ratelimit-limit-requests': '50', 'x-ratelimit-remaining-tokens': '7' },
  ],
  ['Messages', { 'x-ratelimit-remaining-requests': '3' }, { 'anthropic-ratelimit-requests-remaining': '3' }],
  ['Messages', { 'retry-after': '5' }, {}],
])('a client of %s with %j also gets %j', (client, fields, added) => {
  const head = Head.response(429)
  for (const [name, value] of Object.entries(fields)) head.set(name, value)
  translateHead(client, head)
  const after: Record<string, string> = {}
  head.each((name, value) => {
    after[name] = value
  })
  expect(after).toEqual({ ...fields, ...added })
})
