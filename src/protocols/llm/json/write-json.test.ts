import { expect, test } from 'vitest'
import { runAtOnce } from '#base/in-slices.ts'
import { asIs, JsonPieces, writeInSteps, writeJson } from './write-json.ts'

const encoder = new TextEncoder()
const decoder = new TextDecoder()
const written = (value: unknown) => decoder.decode(writeJson(value))

test.each<[value: unknown]>([
  [{}],
  [[]],
  [{ a: 1, b: undefined, c: null, d: [true, 'é"\n😀', [], {}], 'k"y': 0.5 }],
  ['text'],
  [null],
  [[undefined, 1]],
  ['\x7f and "quotes", \\ and \ud800'],
  [{ ['é'.repeat(64)]: 'a'.repeat(64), ['b'.repeat(65)]: '\n'.repeat(65) }],
  [{ long: 'é'.repeat(5000), many: Array.from({ length: 2000 }, (_, i) => i) }],
])('%j is written as JSON.stringify does', (value) => {
  expect(written(value)).toBe(JSON.stringify(value))
})

test('JSON text is copied as it is', () => {
  const number = encoder.encode('12345678901234567890.10')
  const image = new JsonPieces(['"data:image/png;base64,', encoder.encode('QUJD'), '"'])
  const body = { n: asIs<number>(number), list: [asIs<string>(image), 'é'] }
  expect(written(body)).toBe('{"n":12345678901234567890.10,"list":["data:image/png;base64,QUJD","é"]}')
})

test('large JSON text is copied between what stands around it, and results share no bytes', () => {
  const large = encoder.encode(JSON.stringify('x'.repeat(5000)))
  const first = writeJson({ a: asIs<string>(large), b: [1, asIs<string>(large)], c: 'end' })
  writeJson({ other: 'y'.repeat(4000) })
  const text = 'x'.repeat(5000)
  expect(decoder.decode(first)).toBe(JSON.stringify({ a: text, b: [1, text], c: 'end' }))
})

test('what is written in steps is the same: nulls, JSON text and pieces in lists and members', () => {
  const pieces = asIs<string>(new JsonPieces(['"', encoder.encode('QUJD'), '"']))
  const values = [null, undefined, asIs<number>(encoder.encode('1.0')), pieces, 'é', 2, true, {}, []]
  const value = { list: values, members: Object.fromEntries(values.map((each, index) => [`m${index}`, each])) }
  expect(decoder.decode(runAtOnce(writeInSteps(value)))).toBe(written(value))
})
