import { expect, test } from 'vitest'
import { fieldText } from './field-text.ts'

test.each([
  [' a b ', 'a b'],
  ['\u00e9', '\u00c3\u00a9'],
  ['a\nb', undefined],
])('%j as the value of a header', (text, value) => {
  expect(fieldText(text)).toBe(value)
})
