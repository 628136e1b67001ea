import { gzipSync } from 'node:zlib'
import { expect, test } from 'vitest'
import { wholeBody } from '#exchange/known-body.ts'
import { exchangeWith } from '#policies/shared/testing.ts'
import { decodeRequestBody } from './decode-request-body.ts'

test.each([
  ['gzip', gzipSync('hello'), 'hello', undefined],
  [' GZIP ', gzipSync('hello'), 'hello', undefined],
  ['Identity', Buffer.from('hello'), 'hello', undefined],
  ['gzip', Buffer.from('hello'), 'hello', 'content-coding-invalid'],
  ['gzip', gzipSync('x'.repeat(101)), undefined, 'body-too-large'],
  ['other', Buffer.from('hello'), 'hello', 'content-coding-unsupported'],
])('a body with coding %j', async (coding, bytes, text, code) => {
  const exchange = exchangeWith({ method: 'POST', headers: { 'content-encoding': coding } })
  exchange.requestBody = wholeBody(bytes)
  expect((await decodeRequestBody(exchange, 100))?.code).toBe(code)
  if (text !== undefined) expect(Buffer.from(exchange.requestBody.whole!).toString()).toBe(text)
  expect(exchange.request.has('content-encoding')).toBe(code !== undefined)
})
