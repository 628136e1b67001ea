import { expect, test } from 'vitest'
import { parseByteSize } from './byte-size.ts'

test.each([
  ['2Mi', 2_097_152],
  ['16Ki', 16_384],
  ['1k', 1000],
  ['1.5Ki', 1536],
  ['100m', 1],
  ['1e3', 1000],
  ['4294967295', 4_294_967_295],
  ['4294967296', undefined],
  ['4Gi', undefined],
  ['1e999', undefined],
  ['0', undefined],
  [Number.NaN, undefined],
  [Number.POSITIVE_INFINITY, undefined],
  ['2mb', undefined],
  ['-1', undefined],
  ['', undefined],
  ['1 Ki', undefined],
  [1, 1],
  [0, undefined],
  [1.5, undefined],
  [4_294_967_296, undefined],
] as const)('parseByteSize(%j) is %s bytes', (value, bytes) => {
  expect(parseByteSize(value)).toBe(bytes)
})
