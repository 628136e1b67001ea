import { brotliCompressSync, deflateRawSync, deflateSync, gzipSync, zstdCompressSync } from 'node:zlib'
import { expect, test } from 'vitest'
import { CONTENT_CODINGS, decodeContent } from './decode-content.ts'

const TEXT = '{"model":"m","messages":[{"role":"user","content":"hello hello hello"}]}'
const BODY = Buffer.from(TEXT)

test.each([
  ['gzip', gzipSync(BODY)],
  ['GZIP', gzipSync(BODY)],
  ['x-gzip', gzipSync(BODY)],
  [' gzip ', gzipSync(BODY)],
  ['deflate', deflateSync(BODY)],
  ['deflate', deflateRawSync(BODY)],
  ['br', brotliCompressSync(BODY)],
  ['zstd', zstdCompressSync(BODY)],
])('%j is decoded', async (coding, bytes) => {
  expect(Buffer.from((await decodeContent(coding, bytes, 1000)) as Uint8Array).toString()).toBe(TEXT)
})

test.each(['compress', 'gzip, br', 'gzip;q=1', '', 'constructor', 'aws-chunked'])('%j is unknown', async (coding) => {
  expect(await decodeContent(coding, gzipSync(BODY), 1000)).toBe('unknown-coding')
})

test.each([
  ['gzip', BODY],
  ['gzip', gzipSync(BODY).subarray(0, 30)],
  ['gzip', gzipSync(BODY).fill(0, 20, 24)],
  ['deflate', BODY],
  ['br', BODY],
  ['br', brotliCompressSync(BODY).subarray(0, 10)],
  ['zstd', BODY],
  ['zstd', zstdCompressSync(BODY).subarray(0, 20)],
] as const)('%s that is broken or cut is malformed', async (coding, bytes) => {
  expect(await decodeContent(coding, bytes, 1000)).toBe('malformed')
})

test('a body may expand to the limit, and not further', async () => {
  const bytes = gzipSync(BODY)
  expect(await decodeContent('gzip', bytes, BODY.length)).toHaveLength(BODY.length)
  expect(await decodeContent('gzip', bytes, BODY.length - 1)).toBe('too-large')
})

test.each(['gzip', 'deflate', 'br', 'zstd'] as const)(
  '%s may not expand to more than 100 times its size',
  async (coding) => {
    const zeros = Buffer.alloc(2_000_000)
    const compress = { gzip: gzipSync, deflate: deflateSync, br: brotliCompressSync, zstd: zstdCompressSync }[coding]
    expect(await decodeContent(coding, compress(zeros), 100_000_000)).toBe('too-large')
    // A small one may.
    expect(await decodeContent(coding, compress(zeros.subarray(0, 65_536)), 100_000_000)).toHaveLength(65_536)
  },
)

test('the list of codings', () => {
  expect(CONTENT_CODINGS).toBe('gzip, deflate, br, zstd')
})
