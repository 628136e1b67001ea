import { expect, test } from 'vitest'
import { JsonValue, parseDocument } from '../json/json-document.ts'
import { Losses } from './losses.ts'

test('losses are paths, at most 50 of them', () => {
  const value = parseDocument(new TextEncoder().encode(JSON.stringify({ a: Array.from({ length: 60 }, () => 0) })))
  if (!(value instanceof JsonValue)) throw new Error('not JSON')
  const losses = new Losses()
  for (const element of value.get('a')!.elements) losses.drop(element, 'no counterpart')
  expect(losses.paths.slice(0, 2)).toEqual(['a[0] (no counterpart)', 'a[1] (no counterpart)'])
  expect(losses.paths.slice(-2)).toEqual(['a[49] (no counterpart)', '10 more'])
  expect(losses.paths.length).toBe(51)
})
