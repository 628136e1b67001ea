import fc from 'fast-check'
import { expect, test } from 'vitest'
import { Head } from '../http/head.ts'
import {
  EXPECTATION_FAILED,
  HEADERS_TOO_LARGE,
  HOST_INVALID,
  MALFORMED,
  METHOD_NOT_IMPLEMENTED,
} from '../http/head-outcome.ts'
import { parseHeadText } from '../http1/parse-head-text.ts'
import {
  fieldObject,
  readRequestFields,
  readResponseFields,
  readTrailerFields,
  requestFields,
  responseFields,
} from './heads.ts'

const LIMITS = { maxHeadBytes: 16_384, maxHeaders: 8 }
const GET = [':method', 'GET', ':scheme', 'http', ':path', '/p?q', ':authority', 'a.test:80']
const START = 'GET /p?q HTTP/1.1\r\nhost: a.test:80\r\n'

const get = (...fields: string[]) => [...GET, ...fields]
const pseudo = (method: string, path: string, authority: string) => [
  ...[':method', method, ':scheme', 'https', ':path', path, ':authority', authority],
]

function read(fields: string[]): Head | number {
  const head = new Head()
  return readRequestFields(fields, head, LIMITS) || head
}

test.each<[fields: string[], text: string]>([
  [get(), START],
  [get('x', '1', 'y', '', 'x', '2'), `${START}x: 1\r\ny: \r\nx: 2\r\n`],
  [get('x', '\u00e9\u00ff\t.'), `${START}x: \u00e9\u00ff\t.\r\n`],
  [get('host', 'A.TEST:80', 'x', '1'), `${START}x: 1\r\n`],
  [get('cookie', 'a=1', 'x', '1', 'cookie', 'b=2', 'cookie', 'c=3'), `${START}x: 1\r\ncookie: a=1; b=2; c=3\r\n`],
  [get('cookie', '', 'cookie', 'a=1', 'cookie', ''), `${START}cookie: a=1\r\n`],
  [get('content-length', '5'), `${START}content-length: 5\r\n`],
  [get('te', 'trailers', 'trailer', 'x', 'expect', '100-continue', 'http2-settings', 'x'), START],
  [[':method', 'GET', ':scheme', 'http', ':path', '/', 'host', 'b'], 'GET / HTTP/1.1\r\nhost: b\r\n'],
  [pseudo('OPTIONS', '*', 'a'), 'OPTIONS * HTTP/1.1\r\nhost: a\r\n'],
  [
    pseudo('M-SEARCH', '//a/../b%2e?x=|"{}^`<>\\', '[::1]:1'),
    'M-SEARCH //a/../b%2e?x=|"{}^`<>\\ HTTP/1.1\r\nhost: [::1]:1\r\n',
  ],
  [[':method', 'CONNECT', ':authority', 'a:443'], 'CONNECT a:443 HTTP/1.1\r\nhost: a:443\r\n'],
])('%j is a request of HTTP/1.1', (fields, text) => {
  const head = read(fields) as Head
  expect(head.text).toBe(`${text}\r\n`)
  const same = parseHeadText(head.text) as Head
  expect([head.method, head.target, head.authority]).toEqual([same.method, same.target, same.authority])
  expect(linesOf(head)).toEqual(linesOf(same))
  expect(head.contentLength).toBe(same.contentLength)
  expect(head.writeRequest(1, head.contentLength, '')).toBe(same.writeRequest(1, same.contentLength, ''))
})

test('framing fields are rewritten when they change', () => {
  const head = read(get('content-length', '5', 'x', '1')) as Head
  expect(head.writeRequest(1, 7, '')).toBe(`${START}x: 1\r\ncontent-length: 7\r\n\r\n`)
  expect(head.writeRequest(2, -1, '')).toBe(`${START}x: 1\r\ntransfer-encoding: chunked\r\n\r\n`)
})

test('hop-by-hop fields are recorded', () => {
  const head = read(get('te', 'trailers', 'expect', '100-continue')) as Head
  expect([head.takesTrailers, head.expectsContinue, head.keepAlive, head.upgrade]).toEqual([true, true, true, ''])
})

test.each<[fields: string[], outcome: number]>([
  [[':path', '/', ':authority', 'a'], MALFORMED],
  [[':method', 'GET', ':authority', 'a'], MALFORMED],
  [[...GET, ':method', 'PUT'], MALFORMED],
  [[':method', 'GET', ':scheme', 'http', 'x', '1', ':path', '/', ':authority', 'a'], MALFORMED],
  [['x', '1', ...GET], MALFORMED],
  [[...GET, ':protocol', 'websocket'], MALFORMED],
  [[...GET, 'x', '1', ':path', '/'], MALFORMED],
  [pseudo('G T', '/', 'a'), MALFORMED],
  [pseudo('A'.repeat(65), '/', 'a'), METHOD_NOT_IMPLEMENTED],
  [pseudo('delete', '/', 'a'), METHOD_NOT_IMPLEMENTED],
  [pseudo('connect', '/', 'a'), METHOD_NOT_IMPLEMENTED],
  [pseudo('GET', '', 'a'), MALFORMED],
  [pseudo('GET', 'p', 'a'), MALFORMED],
  [pseudo('GET', '*', 'a'), MALFORMED],
  [pseudo('GET', '/a b', 'a'), MALFORMED],
  [pseudo('GET', '/a#b', 'a'), MALFORMED],
  [pseudo('GET', '/ HTTP/1.1\r\nx: y', 'a'), MALFORMED],
  [pseudo('GET', '/\u00e9', 'a'), MALFORMED],
  [pseudo('GET', '/', ''), HOST_INVALID],
  [pseudo('GET', '/', 'u@a'), HOST_INVALID],
  [pseudo('GET', '/', 'a b'), HOST_INVALID],
  [pseudo('GET', '/', 'a\r\nx: y'), HOST_INVALID],
  [[':method', 'GET', ':scheme', 'http', ':path', '/'], HOST_INVALID],
  [get('host', 'b'), HOST_INVALID],
  [get('host', 'a.test:80', 'host', 'a.test:80'), MALFORMED],
  [[':method', 'CONNECT', ':authority', 'a'], MALFORMED],
  [pseudo('CONNECT', '/', 'a:443'), MALFORMED],
  // Extended CONNECT (RFC 8441), which the settings do not offer.
  [[...pseudo('CONNECT', '/', 'a'), ':protocol', 'websocket'], MALFORMED],
  [[':protocol', 'websocket', ...pseudo('CONNECT', '/', 'a')], MALFORMED],
  [get('x', 'a\r\nb: c'), MALFORMED],
  [get('x', 'a\nb'), MALFORMED],
  [get('x', 'a\0'), MALFORMED],
  [get('X', 'a'), MALFORMED],
  [get('Host', 'a.test:80'), MALFORMED],
  [get('x', ' a'), MALFORMED],
  [get('x', 'a\t'), MALFORMED],
  [get('x', '\u0100'), MALFORMED],
  [get('x: y\r\nz', '1'), MALFORMED],
  [get('', '1'), MALFORMED],
  [get('connection', 'close'), MALFORMED],
  [get('keep-alive', 'x'), MALFORMED],
  [get('proxy-connection', 'x'), MALFORMED],
  [get('transfer-encoding', 'chunked'), MALFORMED],
  [get('upgrade', 'websocket'), MALFORMED],
  [get('te', 'gzip'), MALFORMED],
  [get('expect', 'more'), EXPECTATION_FAILED],
  [get('content-length', '05'), MALFORMED],
  [get('content-length', '+5'), MALFORMED],
  [get('content-length', '5, 5'), MALFORMED],
  [get('content-length', ''), MALFORMED],
  [get('content-length', '5', 'content-length', '5'), MALFORMED],
  [get('content-length', '0', 'content-length', '0'), MALFORMED],
  [get('content-length', '0', 'content-length', '5'), MALFORMED],
  [get(...Array.from({ length: 8 }, (_, i) => [`x${i}`, '']).flat()), HEADERS_TOO_LARGE],
  [get('x', 'a'.repeat(16_384)), HEADERS_TOO_LARGE],
])('%j is refused with %i', (fields, outcome) => {
  expect(read(fields)).toBe(outcome)
})

test('split cookie fields count as one field', () => {
  const crumbs = Array.from({ length: 50 }, (_, i) => ['cookie', `c${i}=1`]).flat()
  expect((read(get(...crumbs)) as Head).fieldCount).toBe(2)
})

test('a response has the form of HTTP/1.1', () => {
  const head = new Head()
  const fields = [':status', '207', 'content-length', '3', 'set-cookie', 'a', 'set-cookie', 'b']
  expect(readResponseFields(fields, head, LIMITS)).toBe(0)
  expect(head.status).toBe(207)
  expect(head.contentLength).toBe(3)
  expect(head.writeResponse(1, 3, '')).toBe(
    'HTTP/1.1 207 Multi-Status\r\ncontent-length: 3\r\nset-cookie: a\r\nset-cookie: b\r\n\r\n',
  )
})

test.each<[fields: string[]]>([
  [['x', '1']],
  [[':status', '20']],
  [[':status', '2000']],
  [[':status', '200', 'x', '1', ':status', '204']],
  [[':status', '200', 'connection', 'close']],
  [[':status', '200', 'x', 'a\r\nb']],
])('%j is not a valid response', (fields) => {
  expect(readResponseFields(fields, new Head(), LIMITS)).toBe(MALFORMED)
})

test.each([
  ...['authorization', 'proxy-authorization', 'cookie', 'set-cookie', 'host', 'content-length', 'content-type', 'te'],
  ...[
    'x-forwarded-for',
    'forwarded',
    'proxy_authorization',
    'x_forwarded_host',
    'location',
    'if-match',
    'cache-control',
  ],
])('%s is ignored in trailers (RFC 9110, 6.5.1)', (name) => {
  const head = new Head()
  expect(readTrailerFields([name, '1', 'x', '2'], head, LIMITS)).toBe(0)
  expect(fieldObject(head)).toEqual({ x: ['2'] })
})

test('a gate selects the trailers', () => {
  const head = new Head()
  expect(readTrailerFields(['x', '1', 'y', '2', 'x', '3'], head, LIMITS)).toBe(0)
  expect(fieldObject(head, { admits: (name) => name !== 'x' })).toEqual({ y: ['2'] })
})

test('trailers keep fields that do not affect framing', () => {
  const head = new Head()
  const fields = ['grpc-status', '0', 'content-length', '3', 'te', 'trailers', 'host', 'a', 'x', '1', 'x', '2']
  expect(readTrailerFields(fields, head, LIMITS)).toBe(0)
  expect(fieldObject(head)).toEqual({ 'grpc-status': ['0'], x: ['1', '2'] })
  expect(readTrailerFields([':status', '200'], new Head(), LIMITS)).toBe(MALFORMED)
})

test('names of JavaScript object members are ordinary field names', () => {
  const names = ['constructor', '__proto__', 'hasownproperty']
  const head = new Head()
  expect(
    readTrailerFields(
      names.flatMap((name) => [name, '1', name, '2']),
      head,
      LIMITS,
    ),
  ).toBe(0)
  expect(Object.entries(fieldObject(head))).toEqual(names.map((name) => [name, ['1', '2']]))
})

test('a request is sent with its pseudo-header fields first and without connection-level fields', () => {
  const head = parseHeadText(
    'GET http://a/p HTTP/1.1\r\nHost: a\r\nX-A: 1\r\nConnection: te, x-b\r\nTE: trailers\r\nX-B: 2\r\nContent-Length: 0\r\n\r\n',
  ) as Head
  head.set('upgrade', 'x')
  head.set('x-c', '3')
  const common = [
    ':method',
    'GET',
    ':authority',
    'a',
    ':scheme',
    'https',
    ':path',
    '/p',
    'x-a',
    '1',
    'x-c',
    '3',
    'te',
    'trailers',
  ]
  expect(requestFields(head, 'https', -1)).toEqual(common)
  expect(requestFields(head, 'https', 4)).toEqual([...common, 'content-length', '4'])
  expect(requestFields(Head.request('CONNECT', 'a:1'), 'http', -1)).toEqual([':method', 'CONNECT', ':authority', ''])
})

test('a response is sent in the same way', () => {
  const head = parseHeadText(
    'HTTP/1.1 200 OK\r\nKeep-Alive: timeout=5\r\nConnection: keep-alive\r\nTransfer-Encoding: chunked\r\nSet-Cookie: a\r\nSet-Cookie: b\r\n\r\n',
  ) as Head
  expect(responseFields(head, -1)).toEqual([':status', '200', 'set-cookie', 'a', 'set-cookie', 'b'])
  expect(responseFields(head, 9)).toEqual([
    ':status',
    '200',
    'set-cookie',
    'a',
    'set-cookie',
    'b',
    'content-length',
    '9',
  ])
})

/** Text that is likely to be misinterpreted as HTTP/1.1 syntax. */
const hostile = fc.string({
  unit: fc.constantFrom(...'ab:/?#@[]*.%0 \t\r\n\0\u007f\u00e9\u0100', 'HTTP/1.1', '\r\nx: y', 'Host', 'chunked'),
  maxLength: 6,
})
/** Mostly valid values, because requests that are refused early prove little. */
const often = (...good: string[]) =>
  fc.oneof({ weight: 6, arbitrary: fc.constantFrom(...good) }, { weight: 1, arbitrary: hostile })
const strangers = fc
  .tuple(
    fc.record({
      ':method': often('GET', 'POST', 'OPTIONS', 'CONNECT'),
      ':path': often('/', '/p', '*'),
      ':authority': often('a', 'a:80', '[::1]'),
    }),
    fc.array(
      fc.tuple(
        often('x', 'y', 'cookie', 'te', 'expect', 'content-length', 'host'),
        often('1', 'a', 'trailers', '100-continue'),
      ),
      { maxLength: 5 },
    ),
  )
  .map(([pseudo, fields]) => [...Object.entries(pseudo).flat(), ...fields.flat()])

test('every accepted request is the same request to an HTTP/1.1 parser', () => {
  let accepted = 0
  const check = (fields: string[]) => {
    const head = read(fields)
    if (!(head instanceof Head)) return
    accepted++
    const same = parseHeadText(head.text)
    if (!(same instanceof Head)) throw new Error(`HTTP/1.1 refuses ${JSON.stringify(head.text)} with ${same}`)
    expect(same.text).toBe(head.text)
    expect([same.method, same.target, same.authority]).toEqual([head.method, head.target, head.authority])
    expect(linesOf(same)).toEqual(linesOf(head))
    expect([same.contentLength, same.chunked, same.upgrade]).toEqual([head.contentLength, false, ''])
  }
  fc.assert(fc.property(strangers, check), { numRuns: 5000 })
  expect(accepted).toBeGreaterThan(200)
})

function linesOf(head: Head): string[] {
  const lines: string[] = []
  head.each((name, value) => lines.push(`${name}: ${value}`))
  return lines
}
