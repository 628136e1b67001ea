import { expect, test } from 'vitest'
import { intersectHostname, servedHostnames } from './hostname.ts'

test.each([
  ['', 'a.example', 'a.example'],
  ['a.example', '', 'a.example'],
  ['a.example', 'a.example', 'a.example'],
  ['a.example', 'b.example', undefined],
  ['*.example', 'a.example', 'a.example'],
  ['*.example', 'a.b.example', 'a.b.example'],
  ['*.example', 'example', undefined],
  ['*.example', '.example', undefined],
  ['*.example', 'aexample', undefined],
  ['*.example', '*.a.example', '*.a.example'],
  ['*.a.example', '*.example', '*.a.example'],
  ['*.a.example', '*.b.example', undefined],
])('hosts of both %j and %j: %j', (a, b, expected) => {
  expect(intersectHostname(a, b)).toBe(expected)
  expect(intersectHostname(b, a)).toBe(expected)
})

test.each([
  ['', [], []],
  ['a.example', [], []],
  ['', ['a.example', 'b.example'], ['a.example', 'b.example']],
  ['*.example', ['A.example', 'other.test'], ['a.example']],
  ['a.example', ['*.example', 'a.example'], ['*.example', 'a.example']],
  ['a.example', ['*.example'], ['*.example']],
  ['*.a.example', ['*.example', '*.test'], ['*.example']],
  ['a.example', ['b.example'], undefined],
])('listener %j serves of route %j: %j', (listener, wanted, expected) => {
  expect(servedHostnames(listener, wanted)).toEqual(expected)
})
