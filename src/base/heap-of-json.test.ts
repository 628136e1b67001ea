import { expect, test } from 'vitest'
import { heapOfJson } from './heap-of-json.ts'
import type { Json } from './json.ts'

const list = (count: number, make: (i: number) => Json): Json => Array.from({ length: count }, (_, i) => make(i))

/** Measured with V8, in bytes of heap for each byte of the text. */
test.each<[what: string, value: Json, measured: number]>([
  ['a chat', { model: 'm', messages: list(400, (i) => ({ role: 'user', content: `${'word '.repeat(40)}${i}` })) }, 1.3],
  ['records', list(1000, (i) => ({ id: i, name: `name${i}`, price: i * 1.5, tags: ['a', 'b'], ok: true })), 2.2],
  ['digits', list(45_000, (i) => i % 10), 4],
  ['empty arrays', list(30_000, () => []), 13.4],
  ['empty objects', list(30_000, () => ({})), 22],
  ['names of their own', list(8000, (i) => ({ [`k${i}`]: 1 })), 16.5],
])('%s', (_, value, measured) => {
  const factor = heapOfJson(value) / JSON.stringify(value).length / measured
  expect(factor).toBeGreaterThan(0.5)
  expect(factor).toBeLessThan(3)
})
