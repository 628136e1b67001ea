import { expect, test } from 'vitest'
import { asIs, JsonPieces, writeJson } from './write-json.ts'

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
])('%j is written as JSON.stringify does', (value) => {
  expect(written(value)).toBe(JSON.stringify(value))
})

test('JSON text is copied as it is', () => {
  const number = encoder.encode('12345678901234567890.10')
  const image = new JsonPieces('"data:image/png;base64,', encoder.encode('QUJD'), '"')
  const body = { n: asIs<number>(number), list: [asIs<string>(image), 'é'] }
  expect(written(body)).toBe('{"n":12345678901234567890.10,"list":["data:image/png;base64,QUJD","é"]}')
})
