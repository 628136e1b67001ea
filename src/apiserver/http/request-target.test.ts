import { expect, test } from 'vitest'
import { readTarget } from './request-target.ts'

test.each([
  ['/api/v1/services', ['', 'v1', 'services', undefined, undefined, undefined]],
  ['/api/v1/namespaces', ['', 'v1', 'namespaces', undefined, undefined, undefined]],
  ['/api/v1/namespaces/a', ['', 'v1', 'namespaces', undefined, 'a', undefined]],
  ['/api/v1/namespaces/a/status', ['', 'v1', 'namespaces', undefined, 'a', 'status']],
  ['/api/v1/namespaces/a/finalize', ['', 'v1', 'namespaces', undefined, 'a', 'finalize']],
  ['/api/v1/namespaces/a/services', ['', 'v1', 'services', 'a', undefined, undefined]],
  ['/api/v1/namespaces/a/services/b', ['', 'v1', 'services', 'a', 'b', undefined]],
  ['/apis/g.example/v2/things/a/status', ['g.example', 'v2', 'things', undefined, 'a', 'status']],
  ['/apis/g.example/v2/namespaces/n/things/a%2Eb', ['g.example', 'v2', 'things', 'n', 'a.b', undefined]],
])('%s names objects', (path, expected) => {
  const target = readTarget(path)
  if (target?.type !== 'resource') throw new Error('no resource')
  const { group, version, plural, namespace, name, subresource } = target
  expect([group, version, plural, namespace, name, subresource]).toEqual(expected)
})

test.each([
  ['/', '/'],
  ['/api', '/api'],
  ['/api/v1/', '/api/v1'],
  ['/apis/g.example/v1', '/apis/g.example/v1'],
  ['/openapi/v3/apis/g/v1', '/openapi/v3/apis/g/v1'],
  ['/healthz', '/healthz'],
])('%s names no objects', (path, expected) => {
  expect(readTarget(path)).toEqual({ type: 'other', path: expected })
})

test.each(['/api/v1/services/%', '/api/v1/namespaces/a/services/b/status/more'])('%s is refused', (path) => {
  expect(readTarget(path)).toBeUndefined()
})
