import { expect, test } from 'vitest'
import { Head } from '#net/http/head.ts'
import type { RouteType } from '../settings/policy-schema.ts'
import { translateHead } from './translate-head.ts'

type Fields = Readonly<Record<string, string>>
type Row = [client: RouteType, fields: Fields, added: Fields]

test.each<Row>([
  ['Completions', { 'request-id': 'req_1' }, { 'x-request-id': 'req_1' }],
  ['Messages', { 'x-request-id': 'r-2' }, { 'request-id': 'r-2' }],
  ['Responses', { 'x-amzn-requestid': 'r-3' }, { 'x-request-id': 'r-3' }],
  ['Messages', { 'x-request-id': 'a', 'request-id': 'b' }, {}],
  [
    'Completions',
    {
      'anthropic-ratelimit-requests-limit': '50',
      'anthropic-ratelimit-tokens-remaining': '7',
      'anthropic-ratelimit-requests-reset': '2026-01-01T00:01:30Z',
      'anthropic-ratelimit-tokens-reset': '2025-12-31T23:59:59Z',
      'anthropic-ratelimit-input-tokens-reset': 'soon',
    },
    {
      'x-ratelimit-limit-requests': '50',
      'x-ratelimit-remaining-tokens': '7',
      'x-ratelimit-reset-requests': '90s',
      'x-ratelimit-reset-tokens': '0s',
    },
  ],
  ...[
    ['6m0s', '2026-01-01T00:06:00Z'],
    ['1h2m3.5s', '2026-01-01T01:02:04Z'],
    ['20ms', '2026-01-01T00:00:01Z'],
    ['7', '2026-01-01T00:00:07Z'],
    ['1s20ms', '2026-01-01T00:00:02Z'],
  ].map(
    ([duration = '', time = '']): Row => [
      'Messages',
      { 'x-ratelimit-reset-tokens': duration },
      { 'anthropic-ratelimit-tokens-reset': time },
    ],
  ),
  ...['', 's', '-1s', '9999999999h', 'tomorrow', '1 s'].map(
    (duration): Row => ['MessagesTokenCount', { 'x-ratelimit-reset-requests': duration }, {}],
  ),
  ['Messages', { 'x-ratelimit-remaining-requests': '3' }, { 'anthropic-ratelimit-requests-remaining': '3' }],
  ['Messages', { 'retry-after': '5' }, {}],
  ['Messages', { 'retry-after': '2722' }, { 'x-should-retry': 'false' }],
  ['Completions', { 'retry-after': '2722', 'x-should-retry': 'true' }, {}],
])('a client of %s with %j also gets %j', (client, fields, added) => {
  const head = Head.response(429)
  for (const [name, value] of Object.entries(fields)) head.set(name, value)
  translateHead(client, head, Date.parse('2026-01-01'))
  const after: Record<string, string> = {}
  head.each((name, value) => {
    after[name] = value
  })
  expect(after).toEqual({ ...fields, ...added })
})
