import { expect, test } from 'vitest'
import { readSubjectAltNames } from './subject-alt-names.ts'

test.each([
  ['DNS:a.test', ['DNS a.test']],
  ['DNS:a.test, IP Address:10.0.0.1', ['DNS a.test', 'IP Address 10.0.0.1']],
  ['URI:"spiffe://a/b, c", DNS:a.test', ['URI spiffe://a/b, c', 'DNS a.test']],
  ['', []],
  ['DNS:a.test, ?', []],
  ['a.test', []],
])('names in %j', (text, names) => {
  expect(readSubjectAltNames(text).map(({ type, value }) => `${type} ${value}`)).toEqual(names)
})
