import { expect, test } from 'vitest'
import { related, suggest } from './suggest.ts'

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

test.each([
  ['tlsSettings', ['tls', 'tcp', 'http'], ['tls']],
  ['limits', ['rateLimit', 'retry'], ['rateLimit']],
  [
    'timeoutRequestMs',
    ['idleTimeoutMs', 'requestTimeout', 'requests', 'host', 'timeouts'],
    ['requestTimeout', 'requests', 'timeouts'],
  ],
  ['hostName', ['apiVersion', 'host'], ['host']],
  ['zzz', ['headers', 'host'], []],
])('related(%j) from %j is %j', (word, candidates, expected) => {
  expect(related(word, candidates, 3)).toEqual(expected)
})
