import { expect, test } from 'vitest'
import { isHeadOnly } from './trailer-fields.ts'

/** RFC 9110, 6.5.1: by what a recipient does with them. */
const HEAD_ONLY = {
  routing: ['host', 'forwarded', 'x-forwarded-for', 'x-forwarded-anything', 'max-forwards'],
  framing: ['content-length', 'transfer-encoding', 'trailer', 'te', 'connection', 'keep-alive', 'proxy-connection'],
  upgrades: ['upgrade', 'http2-settings', 'expect'],
  authentication: [
    ...['authorization', 'proxy-authorization', 'cookie', 'set-cookie', 'www-authenticate', 'proxy-authenticate'],
  ],
  conditions: ['if-match', 'if-none-match', 'if-modified-since', 'if-unmodified-since', 'if-range', 'range'],
  content: ['content-encoding', 'content-range', 'content-type'],
  control: [...['cache-control', 'pragma', 'age', 'date', 'expires', 'location', 'retry-after', 'vary', 'warning']],
}

test.each(Object.entries(HEAD_ONLY))('no trailers: fields of %s', (_, names) => {
  expect(names.filter((name) => !isHeadOnly(name))).toEqual([])
})

test('other fields may be trailers', () => {
  const names = ['grpc-status', 'grpc-message', 'etag', 'server-timing', 'content-digest', 'x-forwarded', 'x-a', '']
  expect(names.filter(isHeadOnly)).toEqual([])
})
