import { expect, test } from 'vitest'
import { codeOf, exchangeWith } from '#policies/shared/testing.ts'
import { matchOf } from '../testing.ts'
import { RequestPath } from './request-path.ts'

test.each([
  ['GET', '/', 'proceed'],
  ['GET', '/a/b?x=../y%zz\\', 'proceed'],
  ['GET', '/.well-known/x', 'proceed'],
  ['GET', '/a%2Fb', 'proceed'],
  ['OPTIONS', '*', 'proceed'],
  ['GET', '/a/..?x', 'path-invalid'],
  ['GET', '/a\\b', 'path-invalid'],
  ['GET', '/%zz', 'path-invalid'],
  ['CONNECT', 'example.com:443', 'method-not-allowed'],
])('%s %s: %s', (method, target, code) => {
  expect(codeOf(new RequestPath().read(exchangeWith({ method, target })))).toBe(code)
})

test('the detail has the reason, for operators', () => {
  const exchange = exchangeWith({ target: '/a' })
  expect(new RequestPath().read(exchangeWith({ target: '/%2e./' }))).toMatchObject({
    detail: 'the path has a dot segment',
  })
  exchange.request.target = '/a/..'
  expect(new RequestPath().read(exchange)).toMatchObject({ detail: 'the path set by policies has a dot segment' })
})

test.each<[target: string, forwarded: string, matched: string, query: string]>([
  ['/a/b', '/a/b', '/a/b', ''],
  ['/a?x=%61//', '/a?x=%61//', '/a', '?x=%61//'],
  ['/a?', '/a?', '/a', '?'],
  ['//%61%2f?%61', '//a%2F?%61', '/a%2F', '?%61'],
  ['/index.html', '/index.html', '/index.html', ''],
])('%s is forwarded as %s', (target, forwarded, matched, query) => {
  const exchange = exchangeWith({ target })
  const path = new RequestPath()
  expect(path.read(exchange)).toBeUndefined()
  expect(exchange.request.target).toBe(forwarded)
  expect(exchange.originalTarget).toBe(target)
  expect({ matched: path.matched, query: path.query }).toEqual({ matched, query })
})

test('a head in normal form is forwarded unchanged', () => {
  const exchange = exchangeWith({ target: '/a//b.c;d%2F?e' })
  new RequestPath().read(exchange)
  expect(exchange.request.startLineKept).toBe(true)
})

test('it can be reused for the next request', () => {
  const path = new RequestPath()
  const read = (target: string) => {
    const code = codeOf(path.read(exchangeWith({ target })))
    return `${code} ${path.matched} ${path.query} ${path.ambiguous}`
  }
  expect(read('/a%2Fb?x')).toBe('proceed /a%2Fb ?x true')
  expect(read('/a')).toBe('proceed /a  false')
  expect(read('/a')).toBe('proceed /a  false')
  expect(read('/..')).toBe('path-invalid /..  false')
  expect(read('/..')).toBe('path-invalid /..  false')
  expect(read('/%61?y')).toBe('proceed /a ?y false')
})

test('a rule whose path names parameters keeps them', () => {
  const path = new RequestPath()
  path.read(exchangeWith({ target: '/a;x/y' }))
  expect(path.otherReadings(matchOf('prefix /'))).toEqual(['/a/y'])
  expect(path.otherReadings(matchOf('prefix /a;x'))).toEqual([])
})

test('the target `*` is valid only for OPTIONS', () => {
  const path = new RequestPath()
  const exchange = exchangeWith({ method: 'OPTIONS', target: '*' })
  expect(path.read(exchange)).toBeUndefined()
  exchange.request.method = 'GET'
  expect(codeOf(path.read(exchange))).toBe('path-invalid')
})

test('other readings of the path have no query', () => {
  const path = new RequestPath()
  path.read(exchangeWith({ target: '/a;x/y?b=c;d%2Fe' }))
  expect(path.otherReadings(undefined)).toEqual(['/a/y'])
})
