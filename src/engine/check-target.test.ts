import { expect, test } from 'vitest'
import { codeOf, exchangeWith } from '#policies/shared/testing.ts'
import { checkTarget } from './check-target.ts'

test.each([
  ['GET', '/', 'proceed'],
  ['GET', '/a/b?x=../y', 'proceed'],
  ['GET', '/a.b/.c/d..', 'proceed'],
  ['GET', '/...', 'proceed'],
  ['GET', '/a%20b', 'proceed'],
  ['GET', '/a%2Fb', 'proceed'],
  ['GET', '//a//', 'proceed'],
  ['OPTIONS', '*', 'proceed'],
  ['GET', '/..', 'path-invalid'],
  ['GET', '/.', 'path-invalid'],
  ['GET', '/a/../b', 'path-invalid'],
  ['GET', '/a/./b', 'path-invalid'],
  ['GET', '/a/..?x', 'path-invalid'],
  ['GET', '/a/%2e%2e/b', 'path-invalid'],
  ['GET', '/a/%2E./b', 'path-invalid'],
  ['GET', '/a/.%2e', 'path-invalid'],
  ['GET', '/a\\b', 'path-invalid'],
  ['CONNECT', 'example.com:443', 'method-not-allowed'],
])('%s %s: %s', (method, target, code) => {
  expect(codeOf(checkTarget(exchangeWith({ method, target })))).toBe(code)
})
