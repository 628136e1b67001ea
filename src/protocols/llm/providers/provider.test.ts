import { expect, test } from 'vitest'
import { Head } from '#net/http/head.ts'
import { bearerToken } from './provider.ts'

test.each<[values: string[], token: string | undefined]>([
  [['Bearer sk-1'], 'sk-1'],
  [['bearer  sk-1'], 'sk-1'],
  [['Basic YTpi'], undefined],
  [[], undefined],
  // Policies see both as one text; a provider may use either.
  [['Bearer sk-1', 'Bearer sk-2'], undefined],
])('the bearer token of %j', (values, token) => {
  const request = Head.request('POST', '/')
  for (const value of values) request.append('authorization', value)
  expect(bearerToken(request)).toBe(token)
})
