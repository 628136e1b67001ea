import { expect, test } from 'vitest'
import { connectRequest, readConnectAnswer } from './connect-request.ts'

test('the request has the authority twice, and the credential', () => {
  expect(connectRequest({ key: '', host: '2001:db8::1', port: 443, connectTimeoutMs: 0 }, 'Basic x')).toBe(
    'CONNECT [2001:db8::1]:443 HTTP/1.1\r\nhost: [2001:db8::1]:443\r\nproxy-authorization: Basic x\r\n\r\n',
  )
  expect(connectRequest({ key: '', host: 'a.test', port: 80, connectTimeoutMs: 0 }, undefined)).toBe(
    'CONNECT a.test:80 HTTP/1.1\r\nhost: a.test:80\r\n\r\n',
  )
})

const head = (bytes: number) => `HTTP/1.1 200 OK\r\nx: ${'a'.repeat(bytes - 24)}\r\n\r\n`

test.each<[string, object | undefined]>([
  ['HTTP/1.1 200 Connection established\r\n\r\n', { rest: '' }],
  ['HTTP/1.0 200\r\nx: y\r\n\r\nmore', { rest: 'more' }],
  [head(8192), { rest: '' }],
  ['', undefined],
  ['HTT', undefined],
  ['HTTP/1.1 200 OK\r\nx: y\r\n', undefined],
  ['HTTP/1.1 407 Proxy Authentication Required\r\n\r\n', { code: 'tunnel-refused' }],
  ['HTTP/1.1 204 No Content\r\n\r\n', { code: 'tunnel-refused' }],
  ['HTTP/1.1 100 Continue\r\n\r\n', { code: 'tunnel-refused' }],
  ['SSH-2.0', { code: 'tunnel-failed' }],
  ['HTTP/2 200 \r\n\r\n', { code: 'tunnel-failed' }],
  ['HTTP/1.1 2000 OK\r\n\r\n', { code: 'tunnel-failed' }],
  [head(8193), { code: 'tunnel-failed' }],
  [`HTTP/1.1 200 OK\r\nx: ${'a'.repeat(8200)}`, { code: 'tunnel-failed' }],
])('the answer %j', (text, expected) => {
  const answer = readConnectAnswer(Buffer.from(text))
  const seen = answer && ('rest' in answer ? { rest: answer.rest.toString() } : { code: answer.code })
  expect(seen).toEqual(expected)
})
