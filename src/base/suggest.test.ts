import { expect, test } from 'vitest'
import { suggest } from './suggest.ts'

test.each([
  ['header', ['headers', 'host', 'path'], 'headers'],
  ['rateLimits', ['rateLimit', 'retry'], 'rateLimit'],
  ['RATELIMIT', ['rateLimit'], 'rateLimit'],
  ['mian', ['main'], 'main'],
  ['bleu', ['green', 'blue'], 'blue'],
  ['Prefix', ['Exact', 'PathPrefix'], 'PathPrefix'],
  ['jwt', ['jwtAuthentication', 'retry'], 'jwtAuthentication'],
  ['rewrite', ['urlRewrite', 'hostRewrite'], undefined],
  ['ab', ['abandon'], undefined],
  ['zzz', ['headers', 'host'], undefined],
])('suggest(%j) from %j is %j', (word, candidates, expected) => {
  expect(suggest(word, candidates)).toBe(expected)
})
