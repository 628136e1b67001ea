import { expect, test } from 'vitest'
import { documentOf } from './testing.ts'
import { bytesOf } from './token-bytes.ts'

const read = (token: string, holder: unknown = {}) => bytesOf(token, documentOf(holder))

test.each<[token: string, holder: unknown, bytes: number[] | undefined]>([
  // Whole characters, whatever its bytes are said to be.
  ['a', {}, undefined],
  ['é', { bytes: [1] }, undefined],
  ['\\x', { bytes: [1] }, undefined],
  ['\\xg0', { bytes: [1] }, undefined],
  // As the provider writes bytes.
  ['\\xc3', {}, [0xc3]],
  ['\\xC3\\xa9', {}, [0xc3, 0xa9]],
  ['bytes:\\xe2\\x80', {}, [0xe2, 0x80]],
  ['\ufffd', {}, undefined],
  // The list of bytes is more exact.
  ['\ufffd', { bytes: [0, 0xff] }, [0, 0xff]],
  ['a\ufffd', { bytes: [0x61, 0xc3] }, [0x61, 0xc3]],
  ['\\xc3', { bytes: [0xc4] }, [0xc4]],
  // What is no list of bytes is not read.
  ['\\xc3', { bytes: [] }, [0xc3]],
  ['\\xc3', { bytes: null }, [0xc3]],
  ['\\xc3', { bytes: { 0: 1 } }, [0xc3]],
  ['\\xc3', { bytes: [256] }, [0xc3]],
  ['\\xc3', { bytes: [-1] }, [0xc3]],
  ['\\xc3', { bytes: [1, '2'] }, [0xc3]],
  ['\\xc3', { bytes: [null] }, [0xc3]],
  ['\\xc3', { bytes: [[1]] }, [0xc3]],
  ['\\xc3', { other: [1] }, [0xc3]],
])('the bytes of %j in %j are %j', (token, holder, bytes) => {
  expect(read(token, holder)).toEqual(bytes === undefined ? undefined : Uint8Array.from(bytes))
})

test.each([
  [1024, [1]],
  [1025, [0xc3, 0xa9]],
])('a list of bytes of %i characters: %j', (length, bytes) => {
  const list = `[${'1'.padEnd(length - 2)}]`
  expect(read('\\xc3\\xa9', `{"bytes":${list}}`)).toEqual(Uint8Array.from(bytes))
})
