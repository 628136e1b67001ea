import { expect, test } from 'vitest'
import { fieldText, isConnectionLevel } from './field-text.ts'

test.each([
  ['connection', true],
  ['content-length', true],
  ['keep-alive', true],
  ['proxy-connection', true],
  ['te', true],
  ['trailer', true],
  ['transfer-encoding', true],
  ['upgrade', true],
  ['host', false],
  ['content-type', false],
])('%s belongs to the connection: %s', (name, expected) => {
  expect(isConnectionLevel(name)).toBe(expected)
})

test.each([
  [' a b ', 'a b'],
  ['\u00e9', '\u00c3\u00a9'],
  ['a\nb', undefined],
])('%j as the value of a header', (text, value) => {
  expect(fieldText(text)).toBe(value)
})
