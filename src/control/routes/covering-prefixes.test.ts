import { expect, test } from 'vitest'
import { coveringPrefixes } from './covering-prefixes.ts'

test.each<[pattern: string, prefixes: readonly string[]]>([
  ['/user/[0-9]+', ['/', '/user']],
  ['/api/v[0-9]+/.*', ['/', '/api']],
  ['^/api/v1/items$', ['/', '/api', '/api/v1', '/api/v1/items']],
  ['/a\\.b/.*', ['/', '/a.b']],
  ['.*\\.png', ['/']],
  ['/', ['/']],
  ['/api', ['/', '/api']],
  ['/api.*', ['/']],
  ['/api/?', ['/']],
  ['/api/x*', ['/', '/api']],
  ['/api/x{0,2}', ['/', '/api']],
  ['/api(/.*)?', ['/']],
  ['/a/x|/b', ['/']],
  ['/a/(x|y)', ['/', '/a']],
  ['/a/[|]', ['/', '/a']],
  ['/a/\\|', ['/', '/a', '/a/|']],
  ['/a/\\Q(\\E|/b', ['/']],
  ['(?i)/a/b', ['/']],
  ['/a//b', ['/', '/a']],
])('%s matches only paths under %j', (pattern, prefixes) => {
  expect(coveringPrefixes(pattern)).toEqual(prefixes)
})
