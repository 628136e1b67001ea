import { crc32 as zlibCrc32 } from 'node:zlib'
import fc from 'fast-check'
import { expect, test } from 'vitest'
import { crc32, crc32c } from './crc32.ts'

test('the check values of both checksums', () => {
  const bytes = Buffer.from('123456789')
  expect([crc32(bytes, 0, 9), crc32c(bytes)]).toEqual([0xcbf43926, 0xe3069283])
})

test('a checksum in two steps, of any part of any bytes', () => {
  fc.assert(
    fc.property(fc.uint8Array({ maxLength: 40 }), fc.nat(40), fc.nat(40), (bytes, one, other) => {
      const [from, middle] = [one, other].map((at) => Math.min(at, bytes.length)).toSorted((a, b) => a - b)
      const before = crc32(bytes, from!, middle!)
      expect(crc32(bytes, middle!, bytes.length, before)).toBe(zlibCrc32(bytes.subarray(from)))
    }),
  )
})
