import { expect, test } from 'vitest'
import { Head } from '../http/head.ts'
import {
  EXPECTATION_FAILED,
  HEADERS_TOO_LARGE,
  HOST_INVALID,
  INCOMPLETE,
  MALFORMED,
  METHOD_NOT_IMPLEMENTED,
  URI_TOO_LONG,
  VERSION_NOT_SUPPORTED,
} from '../http/head-outcome.ts'
import { parseRequestHead, parseResponseHead } from './parse-head.ts'
import { parseHeadText } from './parse-head-text.ts'
import { readRequestHead } from './read-head.ts'

const LIMITS = { maxHeadBytes: 65_536, maxHeaders: 100 }

/** A request with these lines, a valid start line and Host. */
const withLines = (...lines: string[]) =>
  `POST / HTTP/1.1\r\nHost: a\r\n${lines.map((line) => `${line}\r\n`).join('')}\r\n`
const withHost = (host: string) => `GET / HTTP/1.1\r\nHost: ${host}\r\n\r\n`
const startLine = (line: string) => `${line}\r\nHost: a\r\n\r\n`

const VALID: string[] = [
  startLine('GET / HTTP/1.1'),
  startLine('GET / HTTP/1.0'),
  startLine('GET //a/../b%2e?x=|"{}^`<>\\ HTTP/1.1'),
  startLine('M-SEARCH /a HTTP/1.1'),
  startLine(`${'A'.repeat(64)} / HTTP/1.1`),
  startLine('OPTIONS * HTTP/1.1'),
  startLine('GET http://a/ HTTP/1.1'),
  startLine('GET HTTP://A/x?y HTTP/1.1'),
  startLine('GET https://a HTTP/1.1'),
  startLine('CONNECT b.example:443 HTTP/1.1'),
  startLine('CONNECT [::1]:443 HTTP/1.1'),
  'CONNECT a:80 HTTP/1.1\r\nHost: a\r\nContent-Length: 0\r\n\r\n',
  withHost('example.com'),
  withHost('example.com:8080'),
  withHost('a:9'),
  withHost('EXAMPLE.com'),
  withHost('a_b.example'),
  withHost('127.0.0.1:80'),
  withHost('[::1]'),
  withHost('[::]'),
  withHost('[a0::F9]'),
  withHost('[A0::f9]:0'),
  withHost('[::ffff:127.0.0.1]:65535'),
  withLines('Content-Length: 0'),
  withLines('Content-Length: 5', 'Content-Length: 5'),
  withLines('Content-Length: 0', 'Content-Length: 0'),
  withLines('Content-Length:5'),
  withLines('Content-Length:   5  '),
  withLines('content-LENGTH: 999999999999999'),
  withLines('Transfer-Encoding: chunked'),
  withLines('transfer-encoding: CHUNKED'),
  withLines('Transfer-Encoding:  chunked '),
  withLines('X:'),
  withLines('X: '),
  withLines('X: a\tb'),
  withLines('X: a\tb', 'Content-Length: 5', 'Y: a\tb'),
  withLines('X: a\tb', 'Transfer-Encoding: chunked', 'Y: a\tb'),
  withLines('X: \u00e9\u00ff\u0080'),
  withLines("!#$%&'*+-.^_`|~: x"),
  withLines('Expect: 100-continue'),
  withLines('Expect: 100-Continue'),
  withLines('Connection: close'),
  withLines('Connection: keep-alive, x-drop', 'X-Drop: 1'),
  withLines('Connection: ,, close ,'),
  withLines('Connection: transfer-encoding'),
  withLines('TE: trailers', 'Connection: TE'),
  withLines('Keep-Alive: timeout=5'),
  withLines('Content_Length: 5'),
  // Longer than one search.
  withLines(...Array.from({ length: 50 }, () => `X: ${'a'.repeat(100)}`)),
]

test.each(VALID)('accepts %j', (text) => {
  expect(parseHeadText(text)).toBeInstanceOf(Head)
})

const INVALID: [outcome: number, text: string][] = [
  // the request line
  [MALFORMED, '\r\nGET / HTTP/1.1\r\nHost: a\r\n\r\n'],
  [MALFORMED, startLine(' GET / HTTP/1.1')],
  [MALFORMED, startLine('GET  / HTTP/1.1')],
  [MALFORMED, startLine('GET /  HTTP/1.1')],
  [MALFORMED, startLine('GET / HTTP/1.1 ')],
  [MALFORMED, startLine('GET\t/ HTTP/1.1')],
  [MALFORMED, startLine('GET /\tHTTP/1.1')],
  [MALFORMED, startLine('GET / a HTTP/1.1')],
  [MALFORMED, startLine('GET 0 HTTP/1.1')],
  [MALFORMED, startLine('GET /\u00e9 HTTP/1.1')],
  [MALFORMED, startLine('GET /\u0000 HTTP/1.1')],
  [MALFORMED, startLine('GET /\u007f HTTP/1.1')],
  [MALFORMED, startLine('GET /#a HTTP/1.1')],
  [MALFORMED, startLine('GET /a\rb HTTP/1.1')],
  [MALFORMED, startLine('G(T / HTTP/1.1')],
  [MALFORMED, startLine('G\u00e9T / HTTP/1.1')],
  [MALFORMED, startLine('GET')],
  [MALFORMED, startLine('GET /')],
  [MALFORMED, startLine('GET  HTTP/1.1')],
  [MALFORMED, startLine('GET / http/1.1')],
  [MALFORMED, startLine('GET / HTTP/11')],
  [MALFORMED, startLine('GET / HTTP/1,1')],
  [MALFORMED, startLine('GET / HTTP/1.10')],
  [MALFORMED, startLine('GET / HTTP/01.1')],
  ...['a.1', ':.1', '/.1', '1.a', '1.:', '1./'].map((version): [number, string] => [
    MALFORMED,
    startLine(`GET / HTTP/${version}`),
  ]),
  [MALFORMED, startLine('GET / XTTP/1.1')],
  [MALFORMED, startLine('GET / HTTP/1.1\r')],
  [MALFORMED, 'GET / HTTP/1.1\nHost: a\n\n'],
  [MALFORMED, 'GET / HTTP/1.1\nHost: a\r\n\r\n'],
  [MALFORMED, 'GET / HTTP/1.1\rHost: a\r\r'],
  [MALFORMED, '\u0016\u0003\u0001\u0002\u0000'],
  [MALFORMED, '{"jsonrpc":"2.0"}\r\n\r\n'],
  [METHOD_NOT_IMPLEMENTED, startLine(`${'A'.repeat(65)} / HTTP/1.1`)],
  [METHOD_NOT_IMPLEMENTED, startLine('delete / HTTP/1.1')],
  [METHOD_NOT_IMPLEMENTED, startLine('DELETe / HTTP/1.1')],
  [METHOD_NOT_IMPLEMENTED, startLine('connect a:443 HTTP/1.1')],
  [VERSION_NOT_SUPPORTED, startLine('GET / HTTP/1.2')],
  [VERSION_NOT_SUPPORTED, startLine('GET / HTTP/2.0')],
  [VERSION_NOT_SUPPORTED, startLine('GET / HTTP/0.9')],
  [VERSION_NOT_SUPPORTED, startLine('GET / HTTP/3.1')],
  [VERSION_NOT_SUPPORTED, startLine('GET / HTTP/9.0')],
  [VERSION_NOT_SUPPORTED, startLine('GET / HTTP/1.9')],
  [VERSION_NOT_SUPPORTED, 'PRI * HTTP/2.0\r\n\r\nSM\r\n\r\n'],
  // target forms
  [MALFORMED, startLine('GET * HTTP/1.1')],
  [MALFORMED, startLine('GET a/b HTTP/1.1')],
  [MALFORMED, startLine('GET a:80 HTTP/1.1')],
  [MALFORMED, startLine('GET ftp://a/ HTTP/1.1')],
  [MALFORMED, startLine('GET ?x HTTP/1.1')],
  [MALFORMED, startLine('CONNECT / HTTP/1.1')],
  [MALFORMED, startLine('CONNECT a HTTP/1.1')],
  [MALFORMED, startLine('CONNECT http://a:80 HTTP/1.1')],
  [MALFORMED, 'CONNECT a:80 HTTP/1.1\r\nHost: a\r\nContent-Length: 1\r\n\r\n'],
  [MALFORMED, 'CONNECT a:80 HTTP/1.1\r\nHost: a\r\nTransfer-Encoding: chunked\r\n\r\n'],
  [HOST_INVALID, startLine('GET http://b/ HTTP/1.1')],
  [HOST_INVALID, startLine('GET http://a:80/ HTTP/1.1')],
  [HOST_INVALID, startLine('GET http://user@a/ HTTP/1.1')],
  [HOST_INVALID, startLine('GET http:///x HTTP/1.1')],
  [HOST_INVALID, startLine('GET http://a@b/ HTTP/1.1')],
  // Host
  [HOST_INVALID, 'GET / HTTP/1.1\r\n\r\n'],
  [HOST_INVALID, 'GET / HTTP/1.0\r\n\r\n'],
  [HOST_INVALID, 'GET / HTTP/1.1\r\nHost: a\r\nHost: a\r\n\r\n'],
  [HOST_INVALID, 'GET / HTTP/1.1\r\nHost: a\r\nhost: b\r\n\r\n'],
  [HOST_INVALID, withHost('')],
  [HOST_INVALID, withHost('a b')],
  [HOST_INVALID, withHost('a, b')],
  [HOST_INVALID, withHost('a/b')],
  [HOST_INVALID, withHost('a@b')],
  [HOST_INVALID, withHost('a?b')],
  [HOST_INVALID, withHost('a\\b')],
  [HOST_INVALID, withHost('a:')],
  [HOST_INVALID, withHost(':80')],
  [HOST_INVALID, withHost('a:80a')],
  [HOST_INVALID, withHost('a:123456')],
  [HOST_INVALID, withHost('a:80:80')],
  [HOST_INVALID, withHost('::1')],
  [HOST_INVALID, withHost('[::1')],
  [HOST_INVALID, withHost('[]')],
  [HOST_INVALID, withHost('[::1]a')],
  [HOST_INVALID, withHost('[::g]')],
  [HOST_INVALID, withHost('[::;]')],
  [HOST_INVALID, withHost('[::/]')],
  [HOST_INVALID, withHost('a:8/')],
  [HOST_INVALID, withHost('\u00e9')],
  [HOST_INVALID, withHost('a%00b')],
  // field lines
  [MALFORMED, withLines('X : a')],
  [MALFORMED, withLines('X\t: a')],
  [MALFORMED, withLines(' X: a')],
  [MALFORMED, withLines('X: a', ' folded')],
  [MALFORMED, withLines('X: a', '\tfolded')],
  [MALFORMED, withLines('X')],
  [MALFORMED, withLines(': a')],
  [MALFORMED, withLines('X Y: a')],
  [MALFORMED, withLines('X(: a')],
  [MALFORMED, withLines('X\u00e9: a')],
  [MALFORMED, withLines('X\u0000: a')],
  [MALFORMED, withLines('X: a\u0000b')],
  [MALFORMED, withLines('X: a\u000bb')],
  [MALFORMED, withLines('X: a\u001fb')],
  [MALFORMED, withLines('X: a\u007fb')],
  [MALFORMED, withLines('X: a\rb')],
  [MALFORMED, withLines('X: a\nY: b')],
  [MALFORMED, withLines('X: a\r')],
  [MALFORMED, withLines('\rX: a')],
  [MALFORMED, 'GET / HTTP/1.1\r\nHost: a\r\n\n'],
  [MALFORMED, 'GET / HTTP/1.1\r\nHost: a\r\n\rX'],
  [MALFORMED, 'GET / HTTP/1.1\r\n\nHost: a\r\n\r\n'],
  // conflicting framing (CL.TE, TE.CL, TE.TE, CL.CL and variants)
  [MALFORMED, withLines('Content-Length: 0', 'Content-Length: 5')],
  [MALFORMED, withLines('Content-Length: 4', 'Transfer-Encoding: chunked')],
  [MALFORMED, withLines('Transfer-Encoding: chunked', 'Content-Length: 4')],
  [MALFORMED, withLines('Transfer-Encoding: chunked', 'Content-Length: 0')],
  [MALFORMED, withLines('Transfer-Encoding: chunked', 'Transfer-Encoding: chunked')],
  [MALFORMED, withLines('Transfer-Encoding: chunked', 'Transfer-Encoding: identity')],
  [MALFORMED, withLines('Transfer-Encoding: identity')],
  [MALFORMED, withLines('Transfer-Encoding: identity, chunked')],
  [MALFORMED, withLines('Transfer-Encoding: gzip, chunked')],
  [MALFORMED, withLines('Transfer-Encoding: chunked, gzip')],
  [MALFORMED, withLines('Transfer-Encoding: chunked, chunked')],
  [MALFORMED, withLines('Transfer-Encoding: chunked,')],
  [MALFORMED, withLines('Transfer-Encoding: ,chunked')],
  [MALFORMED, withLines('Transfer-Encoding: xchunked')],
  [MALFORMED, withLines('Transfer-Encoding: chunkedx')],
  [MALFORMED, withLines('Transfer-Encoding: xhunked')],
  [MALFORMED, withLines('Transfer-Encoding: chunke')],
  [MALFORMED, withLines('Transfer-Encoding: "chunked"')],
  [MALFORMED, withLines('Transfer-Encoding: chunked;q=1')],
  [MALFORMED, withLines('Transfer-Encoding: \u000bchunked')],
  [MALFORMED, withLines('Transfer-Encoding: chunked\u0000')],
  [MALFORMED, withLines('Transfer-Encoding: chun\u212aed')],
  [MALFORMED, withLines('Transfer-Encoding:')],
  [MALFORMED, withLines('Transfer-Encoding:\tchunked')],
  [MALFORMED, withLines('Transfer-Encoding: chunked\t')],
  [MALFORMED, withLines('Transfer-Encoding: chunked \t')],
  [MALFORMED, withLines('Content-Length: \t5')],
  [MALFORMED, withLines('Content-Length: 5 \t ')],
  [MALFORMED, withLines('Transfer-Encoding : chunked')],
  [MALFORMED, withLines(' Transfer-Encoding: chunked')],
  [MALFORMED, withLines('Transfer-Encoding:', ' chunked')],
  [MALFORMED, withLines('Transfer-Encoding\r: chunked')],
  [MALFORMED, withLines('X: y\nTransfer-Encoding: chunked')],
  [MALFORMED, withLines('X: y\rTransfer-Encoding: chunked')],
  [MALFORMED, 'POST / HTTP/1.0\r\nHost: a\r\nTransfer-Encoding: chunked\r\n\r\n'],
  [MALFORMED, withLines('Content-Length: 4', 'Content-Length: 5')],
  [MALFORMED, withLines('Content-Length: 4', 'Content-Length: 04')],
  [MALFORMED, withLines('Content-Length: 4, 4')],
  [MALFORMED, withLines('Content-Length: 4, 5')],
  [MALFORMED, withLines('Content-Length:')],
  [MALFORMED, withLines('Content-Length: ')],
  [MALFORMED, withLines('Content-Length: -1')],
  [MALFORMED, withLines('Content-Length: +1')],
  [MALFORMED, withLines('Content-Length: 0x1')],
  [MALFORMED, withLines('Content-Length: 1e1')],
  [MALFORMED, withLines('Content-Length: 1.0')],
  [MALFORMED, withLines('Content-Length: 1 2')],
  [MALFORMED, withLines('Content-Length: 1:')],
  [MALFORMED, withLines('Content-Length: 1/')],
  [MALFORMED, withLines('Content-Length: 010')],
  [MALFORMED, withLines('Content-Length: 1_0')],
  [MALFORMED, withLines('Content-Length: "4"')],
  [MALFORMED, withLines('Content-Length: \u0664')],
  [MALFORMED, withLines('Content-Length: \u00b2')],
  [MALFORMED, withLines('Content-Length: 9999999999999999')],
  [MALFORMED, withLines('Content-Length: 18446744073709551617')],
  [MALFORMED, withLines('Content-Length : 4')],
  // Connection
  [MALFORMED, withLines('Connection: :authority')],
  [MALFORMED, withLines('Connection: :path')],
  [MALFORMED, withLines('Connection: a b')],
  [MALFORMED, withLines('Connection: close\u00a0')],
  // Expect
  [EXPECTATION_FAILED, withLines('Expect: 200-ok')],
  [EXPECTATION_FAILED, withLines('Expect:')],
  [EXPECTATION_FAILED, withLines('Expect: 100-continue, 100-continue')],
  [EXPECTATION_FAILED, withLines('Expect: y 100-continue')],
  [EXPECTATION_FAILED, withLines('Expect: 100-continus')],
  [EXPECTATION_FAILED, withLines('Expect: 100 continue')],
  [EXPECTATION_FAILED, withLines('Expect: 200-continue')],
  // Control characters that differ from "1" and "-" by one bit.
  [MALFORMED, withLines('Expect: \u001100-continue')],
  [MALFORMED, withLines('Expect: 100\rcontinue')],
]

test.each(INVALID)('refuses with %i: %j', (outcome, text) => {
  expect(parseHeadText(text)).toBe(outcome)
})

test.each([
  ['HTTP/1.1 200 OK\r\n\r\n', 200],
  ['HTTP/1.1 200 \r\n\r\n', 200],
  ['HTTP/1.1 200\r\n\r\n', 200],
  ['HTTP/1.0 404 Not Found\r\nContent-Length: 0\r\n\r\n', 404],
  ['HTTP/1.1 999 \u00e9\r\nHost: twice\r\nHost: twice\r\n\r\n', 999],
  ['HTTP/1.1 200 OK\r\nConnection: close\r\nExpect: anything\r\n\r\n', 200],
  ['HTTP/1.1 100 Continue\r\n\r\n', 100],
])('response: accepts %j', (text, status) => {
  const head = parseHeadText(text)
  expect(head).toBeInstanceOf(Head)
  expect((head as Head).status).toBe(status)
})

test.each([
  [MALFORMED, 'HTTP/1.1 099 X\r\n\r\n'],
  [MALFORMED, 'HTTP/1.1 20 OK\r\n\r\n'],
  [MALFORMED, 'HTTP/1.1 2000 OK\r\n\r\n'],
  [MALFORMED, 'HTTP/1.1 +20 OK\r\n\r\n'],
  [MALFORMED, 'HTTP/1.1 2/0 OK\r\n\r\n'],
  [MALFORMED, 'HTTP/1.1 2:0 OK\r\n\r\n'],
  [MALFORMED, 'HTTP/1.1X200 OK\r\n\r\n'],
  [MALFORMED, 'HTTP/1.1  200 OK\r\n\r\n'],
  [MALFORMED, 'HTTP/1.1 200 O\u0000K\r\n\r\n'],
  [MALFORMED, 'HTTP/1.1 200 OK\nX: y\n\n'],
  [MALFORMED, 'HTTP/1.1 200 OK\r\nX: a\r\n b\r\n\r\n'],
  [MALFORMED, 'HTTP/1.1 200 OK\r\nX: a\r\n : b\r\n\r\n'],
  [MALFORMED, 'HTTP/1.1 200 OK\r\nX y: b\r\n\r\n'],
  [MALFORMED, 'HTTP/1.1 200 OK\r\nX : a\0\r\n\r\n'],
  [MALFORMED, 'HTTP/1.1 200 OK\r\nContent-Length : 1\r\nContent-Length: 2\r\n\r\n'],
  [MALFORMED, 'HTTP/1.1 200 OK\r\nContent-Length: 1\r\nTransfer-Encoding: chunked\r\n\r\n'],
  [MALFORMED, 'HTTP/1.1 200 OK\r\nContent-Length: 1\r\nContent-Length: 2\r\n\r\n'],
  [MALFORMED, 'HTTP/1.1 200 OK\r\nTransfer-Encoding: gzip\r\n\r\n'],
  [MALFORMED, 'HTTP/1.0 200 OK\r\nTransfer-Encoding: chunked\r\n\r\n'],
  [MALFORMED, 'HTTP/1.1 200 OK\r\nConnection: content-length\r\nContent-Length: 1\r\n\r\n'],
  [MALFORMED, 'HTTP/1.1 200 OK\r\nConnection: close, Host\r\n\r\n'],
  [VERSION_NOT_SUPPORTED, 'HTTP/2.0 200 OK\r\n\r\n'],
])('response: refuses with %i: %j', (outcome, text) => {
  expect(parseHeadText(text)).toBe(outcome)
})

test.each([
  ['X : a', 'X:  a'],
  ['X \t:a', 'X:\t a'],
  ['X-A: 1\r\nX :\r\nX-B : 2', 'X-A: 1\r\nX: \r\nX-B:  2'],
])('response: whitespace before the colon of %j is moved behind it, however the bytes arrive', (lines, moved) => {
  const text = `HTTP/1.1 200 OK\r\n${lines}\r\nContent-Length : 1\r\n\r\n`
  const bytes = Buffer.from(text, 'latin1')
  for (let cut = 1; cut <= bytes.length; cut++) {
    const received = Buffer.from(bytes)
    const head = new Head()
    const part = parseResponseHead(received, 0, cut, head, LIMITS)
    if (cut < bytes.length) expect(part, `${cut}`).toBe(INCOMPLETE)
    expect(cut < bytes.length ? parseResponseHead(received, 0, bytes.length, head, LIMITS) : part).toBe(bytes.length)
    expect(received.toString('latin1')).toBe(`HTTP/1.1 200 OK\r\n${moved}\r\nContent-Length:  1\r\n\r\n`)
    expect(head.contentLength).toBe(1)
  }
})

test.each([
  ['https://a/x?y', '/x?y'],
  ['http://A', '/'],
  ['http://a?q', '/?q'],
  ['HTTP://a//b', '//b'],
])('absolute form %s is forwarded as %s', (target, origin) => {
  const head = parseHeadText(startLine(`GET ${target} HTTP/1.1`)) as Head
  expect(head.target).toBe(origin)
  expect(head.writeRequest(0, -1, '')).toBe(startLine(`GET ${origin} HTTP/1.1`))
})

test.each([
  ['http://a', '*'],
  ['http://a/', '/'],
  ['http://a/x', '/x'],
  ['http://a?q', '/?q'],
])('OPTIONS %s is for %s: for the whole server in asterisk form', (target, forwarded) => {
  expect((parseHeadText(startLine(`OPTIONS ${target} HTTP/1.1`)) as Head).target).toBe(forwarded)
})

test('HTTP/1.0 is forwarded as HTTP/1.1', () => {
  const head = parseHeadText(startLine('GET / HTTP/1.0')) as Head
  expect(head.http10).toBe(true)
  expect(head.keepAlive).toBe(false)
  expect(head.writeRequest(0, -1, '')).toBe(startLine('GET / HTTP/1.1'))
})

test.each([
  ['Host, close', ['host'], ['host', 'cookie', 'content-length']],
  ['Content-Length', ['content-length'], ['host', 'cookie', 'content-length']],
  ['COOKIE,x_a', ['cookie', 'x_a'], ['host', 'content-length']],
  ['close, cookie', ['cookie'], ['host', 'content-length']],
  ['keep-alive, cookie', ['cookie'], ['host', 'content-length']],
  ['x-abc', ['x-abc'], ['host', 'cookie', 'content-length']],
  ['x-abcdefgh', ['x-abcdefgh'], ['host', 'cookie', 'content-length']],
  ['te, upgrade, keep-alive, trailer, transfer-encoding, http2-settings', [], ['host', 'cookie', 'content-length']],
])('fields nominated by Connection are recorded: %s', (connection, nominated, left) => {
  const head = parseHeadText(withLines(`Connection: ${connection}`, 'Cookie: a=1', 'Content-Length: 5')) as Head
  expect(head.nominated).toEqual(nominated)
  expect(head.clone().nominated).toEqual(nominated)
  const names: string[] = []
  head.each((name) => names.push(name))
  expect(names).toEqual(left)
  expect([head.authority, head.contentLength]).toEqual(['a', 5])
  head.reset()
  expect(head.nominated).toEqual([])
})

test('a nominated field is dropped in the first line, too, and from responses', () => {
  const request = parseHeadText('GET / HTTP/1.1\r\nX: 1\r\nHost: a\r\nConnection: x\r\n\r\n') as Head
  expect([request.has('x'), request.nominated]).toEqual([false, ['x']])
  const response = parseHeadText('HTTP/1.1 200 OK\r\nX: 1\r\nConnection: x\r\n\r\n') as Head
  expect([response.has('x'), response.nominated]).toEqual([false, []])
})

test('connection-level fields and nominated fields are dropped', () => {
  const head = parseHeadText(
    withLines(
      'Connection: keep-alive, X-Nominated, TE',
      'Keep-Alive: timeout=5',
      'X-Nominated: 1',
      'x-nominated: 2',
      'TE: trailers, deflate;q=0.5',
      'Trailer: x',
      'Transfer-Encoding: chunked',
      'Proxy-Connection: keep-alive',
      'Proxy-Authenticate: Basic',
      'Proxy-Authorization: Basic eDp5',
      'Expect: 100-continue',
      'X-Kept: 1',
    ),
  ) as Head
  const names: string[] = []
  head.each((name) => names.push(name))
  expect(names).toEqual(['host', 'proxy-authorization', 'x-kept'])
  expect(head.fieldCount).toBe(3)
  expect(head.nominated).toEqual(['x-nominated'])
  expect([head.chunked, head.takesTrailers, head.expectsContinue, head.keepAlive]).toEqual([true, true, true, true])
})

test.each([
  [['Connection: Upgrade', 'Upgrade: websocket'], 'websocket'],
  [['Connection: keep-alive, upgrade', 'Upgrade: a/1', 'Upgrade: b'], 'a/1, b'],
  [['Upgrade: websocket'], ''],
  [['Connection: keep-alive, x', 'Upgrade: websocket'], ''],
  [['Connection: Upgrade'], ''],
  [['Connection: Upgrade, HTTP2-Settings', 'Upgrade: h2c', 'HTTP2-Settings: AAMAAABkAAQAoAAAAAIAAAAA'], ''],
  [['Connection: Upgrade', 'Upgrade: websocket, h2c'], ''],
  [['Connection: Upgrade', 'Upgrade: websocket', 'Content-Length: 1'], ''],
  [['Connection: Upgrade', 'Upgrade: websocket', 'Content-Length: 0'], 'websocket'],
])('the upgrade requested by %j is %j', (lines, upgrade) => {
  const head = parseHeadText(withLines(...lines)) as Head
  expect(head.upgrade).toBe(upgrade)
  expect(head.has('upgrade') || head.has('connection') || head.has('http2-settings')).toBe(false)
})

test('an HTTP/1.0 client does not wait for 100 (RFC 9110, 10.1.1)', () => {
  const text = withLines('Expect: 100-continue')
  expect((parseHeadText(text) as Head).expectsContinue).toBe(true)
  expect((parseHeadText(text.replace('HTTP/1.1', 'HTTP/1.0')) as Head).expectsContinue).toBe(false)
})

test('an upgrade over HTTP/1.0 is ignored (RFC 9110, 7.8)', () => {
  const text = withLines('Connection: Upgrade', 'Upgrade: websocket').replace('HTTP/1.1', 'HTTP/1.0')
  expect((parseHeadText(text) as Head).upgrade).toBe('')
})

test('a 101 has its protocol and no body, even if it announces one', () => {
  const text =
    'HTTP/1.1 101 Switching Protocols\r\nConnection: Upgrade\r\nUpgrade: websocket\r\nContent-Length: 5\r\n\r\n'
  expect((parseHeadText(text) as Head).upgrade).toBe('websocket')
})

test.each([
  ['timeout=5', 5],
  ['timeout=5, max=100', 5],
  ['TIMEOUT=90 ', 90],
  ['timeout=5:', 5],
  ['timeout=1000000', 100_000],
  ['max=100, timeout=5', -1],
  ['max=100', -1],
  ['timeout=', -1],
  ['', -1],
])('Keep-Alive: %s is a hint of %i seconds', (value, seconds) => {
  const head = parseHeadText(`HTTP/1.1 200 OK\r\nKeep-Alive: ${value}\r\n\r\n`) as Head
  expect(head.keepAliveSeconds).toBe(seconds)
  expect(head.has('keep-alive')).toBe(false)
})

test('the second of two equal lengths is dropped', () => {
  const head = parseHeadText(withLines('Content-Length: 5', 'Content-Length: 5')) as Head
  expect(head.writeRequest(1, 5, '')).toBe(withLines('Content-Length: 5'))
})

test('without limits of its own, a text has up to 10,000 fields', () => {
  const textOf = (count: number) => `GET / HTTP/1.1\r\nHost: a\r\n${'a:\r\n'.repeat(count - 1)}\r\n`
  expect(parseHeadText(textOf(10_000))).toBeInstanceOf(Head)
  expect(parseHeadText(textOf(10_001))).toBe(HEADERS_TOO_LARGE)
})

function parsePrefix(text: string, maxHeadBytes = 65_536): number {
  const bytes = Buffer.from(text, 'latin1')
  return readRequestHead(bytes, 0, bytes.length, new Head(), { maxHeadBytes, maxHeaders: 3 })
}

test.each([
  ['a request line of the limit', INCOMPLETE, 'GET /'.padEnd(100, 'x'), 100],
  ['a longer one', URI_TOO_LONG, 'GET /'.padEnd(101, 'x'), 100],
  ['a longer one that is complete', URI_TOO_LONG, `${'GET /'.padEnd(101, 'x')} HTTP/1.1\r\n`, 100],
  ['fields beyond the limit, incomplete', HEADERS_TOO_LARGE, 'GET / HTTP/1.1\r\nX: '.padEnd(101, 'x'), 100],
  [
    'fields beyond the limit, complete',
    HEADERS_TOO_LARGE,
    `${withHost('a').slice(0, -2)}X: ${'x'.repeat(90)}\r\n\r\n`,
    100,
  ],
  ['as many fields as allowed', 39, 'GET / HTTP/1.1\r\nHost: a\r\nA: b\r\nC: d\r\n\r\n', 39],
  ['a name of the length of Host', 36, 'GET / HTTP/1.1\r\nHost: a\r\nHint: 1\r\n\r\n', 100],
  ['a name of the length of Transfer-Encoding', 49, 'GET / HTTP/1.1\r\nHost: a\r\nTiming-Allow-Orig: 1\r\n\r\n', 100],
  ['one field too many', HEADERS_TOO_LARGE, 'GET / HTTP/1.1\r\nHost: a\r\nA: b\r\nC: d\r\nE: f\r\n\r\n', 100],
])('the end of a head, and limits: %s', (_, outcome, text, maxHeadBytes) => {
  expect(parsePrefix(text, maxHeadBytes)).toBe(outcome)
})

test.each([
  ['request', 'GET /', URI_TOO_LONG, parseRequestHead],
  ['response', 'HTTP/1.1 200 ', HEADERS_TOO_LARGE, parseResponseHead],
])('the head limit applies to the first line of a %s, wherever it begins', (_, line, tooLong, parse) => {
  const outcomeOf = (length: number) => {
    const bytes = Buffer.from(`${'-'.repeat(80)}${line.padEnd(length, 'x')}`)
    return parse(bytes, 80, bytes.length, new Head(), { maxHeadBytes: 100, maxHeaders: 3 })
  }
  expect([60, 100, 101].map(outcomeOf)).toEqual([INCOMPLETE, INCOMPLETE, tooLong])
})

test('the table of fields grows', () => {
  const lines = Array.from({ length: 99 }, (_, i) => `X-${i}: ${i}`)
  const head = parseHeadText(withLines(...lines), LIMITS) as Head
  expect(head.fieldCount).toBe(100)
  expect(head.get('x-98')).toBe('98')
})

const RESUMED = [
  startLine('GET /a?b HTTP/1.0'),
  withLines('Content-Length: 5', 'Connection: x, close', 'X: y', 'Content-Length: 5', 'Expect: 100-continue'),
  startLine('GET http://a/ HTTP/1.1'),
]

test.each(RESUMED)('byte by byte, and in two parts at every point, after other bytes: %j', (text) => {
  const start = 3
  const bytes = Buffer.from(`${'x'.repeat(start)}${text}`, 'latin1')
  const whole = parseHeadText(text)
  const slow = new Head()
  for (let end = start; end < bytes.length; end++) {
    expect(readRequestHead(bytes, start, end, slow, LIMITS)).toBe(INCOMPLETE)
    const halves = new Head()
    expect(readRequestHead(bytes, start, end, halves, LIMITS)).toBe(INCOMPLETE)
    expect(readRequestHead(bytes, start, bytes.length, halves, LIMITS)).toBe(bytes.length)
    expect(halves).toEqual(whole)
  }
  expect(readRequestHead(bytes, start, bytes.length, slow, LIMITS)).toBe(bytes.length)
  expect(slow).toEqual(whole)
})

test.each([
  [withLines('Content-Length: 5', 'Connection: close'), parseRequestHead],
  ['HTTP/1.0 204 No Content\r\nKeep-Alive: timeout=5\r\n\r\n', parseResponseHead],
])('bytes after the end are not read: %j', (text, parse) => {
  for (let end = 0; end < text.length; end++) {
    const bytes = Buffer.from(text.slice(0, end).padEnd(text.length + 32, '\0'), 'latin1')
    expect(parse(bytes, 0, end, new Head(), LIMITS)).toBe(INCOMPLETE)
  }
})

test('a head is refused at the first invalid byte', () => {
  for (const [outcome, text] of INVALID) {
    if (outcome !== MALFORMED) continue
    const bytes = Buffer.from(text, 'latin1')
    const head = new Head()
    let seen = INCOMPLETE
    for (let end = 0; end <= bytes.length && seen === INCOMPLETE; end++) {
      seen = readRequestHead(bytes, 0, end, head, LIMITS)
    }
    expect([seen, text]).toEqual([MALFORMED, text])
  }
})

test('offsets are correct for a head in the middle of a buffer', () => {
  const text = `xxx${withHost('a')}next`
  const bytes = Buffer.from(text, 'latin1')
  const head = new Head()
  const after = readRequestHead(bytes, 3, bytes.length, head, LIMITS)
  expect(bytes.latin1Slice(after, bytes.length)).toBe('next')
  expect([head.text, head.method, head.target]).toEqual([withHost('a'), 'GET', '/'])
  const response = Buffer.from('x'.concat('HTTP/1.1 204 No Content\r\n\r\n'))
  expect(parseResponseHead(response, 1, response.length, new Head(), LIMITS)).toBe(response.length)
  expect(parseRequestHead(bytes, 0, 0, new Head(), LIMITS)).toBe(INCOMPLETE)
})

/** A limit of a hundred bytes, at any offset in the buffer. */
const SMALL = { maxHeadBytes: 100, maxHeaders: 100 }
const letters = (length: number) => 'a'.repeat(length)
const limitedRequests: readonly (readonly [what: string, text: string, outcome: number])[] = [
  ['a start line that fits and is not complete', `GET /${letters(95)}`, INCOMPLETE],
  ['a start line that is not complete and too long', `GET /${letters(96)}`, URI_TOO_LONG],
  ['a start line that fills the limit', `GET /${letters(84)} HTTP/1.1\r\n`, INCOMPLETE],
  ['a start line that is one byte too long', `GET /${letters(85)} HTTP/1.1\r\n`, URI_TOO_LONG],
  ['a head that fills the limit', `GET / HTTP/1.1\r\nhost: a\r\nb: ${letters(68)}\r\n\r\n`, 100],
  ['a head that is one byte too long', `GET / HTTP/1.1\r\nhost: a\r\nb: ${letters(69)}\r\n\r\n`, HEADERS_TOO_LARGE],
  ['fields that fit and are not complete', `GET / HTTP/1.1\r\nhost: a\r\nb: ${letters(72)}`, INCOMPLETE],
  ['fields that are not complete and too long', `GET / HTTP/1.1\r\nhost: a\r\nb: ${letters(73)}`, HEADERS_TOO_LARGE],
]
for (const [what, text, outcome] of limitedRequests) {
  test.each([0, 1, 150])(`request: ${what}, after %i bytes`, (start) => {
    const bytes = Buffer.from(' '.repeat(start) + text, 'latin1')
    const result = parseRequestHead(bytes, start, bytes.length, new Head(), SMALL)
    expect(result).toBe(outcome > 0 ? start + outcome : outcome)
  })
}

const limitedResponses: readonly (readonly [what: string, text: string, outcome: number])[] = [
  ['a status line that fits and is not complete', `HTTP/1.1 200 ${letters(87)}`, INCOMPLETE],
  ['a status line that is not complete and too long', `HTTP/1.1 200 ${letters(88)}`, HEADERS_TOO_LARGE],
  ['a head that fills the limit', `HTTP/1.1 200 OK\r\nb: ${letters(76)}\r\n\r\n`, 100],
  ['a head that is one byte too long', `HTTP/1.1 200 OK\r\nb: ${letters(77)}\r\n\r\n`, HEADERS_TOO_LARGE],
]
for (const [what, text, outcome] of limitedResponses) {
  test.each([0, 1, 150])(`response: ${what}, after %i bytes`, (start) => {
    const bytes = Buffer.from(' '.repeat(start) + text, 'latin1')
    const result = parseResponseHead(bytes, start, bytes.length, new Head(), SMALL)
    expect(result).toBe(outcome > 0 ? start + outcome : outcome)
  })
}

test('a response head in pieces has each of its fields once', () => {
  const bytes = Buffer.from('HTTP/1.1 200 OK\r\na: 1\r\nb: 2\r\n\r\n', 'latin1')
  const head = new Head()
  for (let end = 0; end < bytes.length; end++) {
    expect(parseResponseHead(bytes, 0, end, head, LIMITS)).toBe(INCOMPLETE)
  }
  expect(parseResponseHead(bytes, 0, bytes.length, head, LIMITS)).toBe(bytes.length)
  expect(head.received).toBe(2)
})

test.each([
  ['HTTP/1.1 200 Fine\r\n\r\n', 'HTTP/1.1 200 Fine\r\n\r\n'],
  ['HTTP/1.1 200 \r\n\r\n', 'HTTP/1.1 200 \r\n\r\n'],
  ['HTTP/1.1 200\r\n\r\n', 'HTTP/1.1 200 OK\r\n\r\n'],
  ['HTTP/1.0 200 Fine\r\n\r\n', 'HTTP/1.1 200 OK\r\n\r\n'],
])('the status line %j is forwarded as %j', (received, sent) => {
  expect((parseHeadText(received) as Head).writeResponse(0, -1, '')).toBe(sent)
})

test('a field whose name differs in one letter from a connection-level field is an ordinary field', () => {
  const names = [
    ...['TE', 'Host', 'Expect', 'Trailer', 'Upgrade', 'Connection', 'Keep-Alive', 'Content-Length'],
    ...['Proxy-Connection', 'Transfer-Encoding', 'Proxy-Authenticate'],
  ]
  const otherEnds = names.map((name) => `${name.slice(0, -1)}x: close`)
  // Tokens whose first character has the last five bits of that of a known name.
  const otherBegins = [
    '4E',
    '%xpect',
    '4railer',
    '5pgrade',
    '#onnection',
    '+eep-Alive',
    '#ontent-Length',
    '4ransfer-Encoding',
  ]
  const text = withLines(...otherEnds, ...otherBegins.map((name) => `${name}: close`))
  const head = parseHeadText(text) as Head
  expect(head.writeRequest(0, -1, '')).toBe(text)
  expect([head.contentLength, head.chunked, head.keepAlive]).toEqual([-1, false, true])
})

test.each([
  ['HTTP/1.1', '', true],
  ['HTTP/1.1', 'close', false],
  ['HTTP/1.1', 'CLOSE', false],
  ['HTTP/1.1', 'keep-alive, close', false],
  ['HTTP/1.0', '', false],
  ['HTTP/1.0', 'keep-alive', true],
  ['HTTP/1.0', 'Keep-Alive, x', true],
])('%s with Connection: "%s" is kept alive: %s', (version, connection, keepAlive) => {
  const head = parseHeadText(`GET / ${version}\r\nHost: a\r\nConnection: ${connection}\r\n\r\n`) as Head
  expect(head.keepAlive).toBe(keepAlive)
})

test.each(['0', '7', '15', '250', '999999999999999'])('Content-Length: %s is the length of the body', (length) => {
  expect((parseHeadText(withLines(`Content-Length: ${length}`)) as Head).contentLength).toBe(Number(length))
})

test('TE announces whether trailers are accepted', () => {
  expect((parseHeadText(withLines('TE: trailers')) as Head).takesTrailers).toBe(true)
  expect((parseHeadText(withLines('TE: gzip')) as Head).takesTrailers).toBe(false)
})

test('nothing of a head remains for the next one', () => {
  const head = new Head()
  const read = (text: string) => {
    const bytes = Buffer.from(text, 'latin1')
    head.reset()
    return readRequestHead(bytes, 0, bytes.length, head, LIMITS)
  }
  const short = withHost('a')
  // The length of the first head is where the body of the second has the same text.
  expect(read('GET / HTTP/1.1\r\nHost: aaa\r\nContent-Length: 5\r\n\r\n')).toBeGreaterThan(0)
  expect(read(`${short}Content-Length: 5\r\n`)).toBe(short.length)
  expect(head.contentLength).toBe(-1)
  expect(read(withLines('Connection: close'))).toBeGreaterThan(0)
  expect(read(withLines('X: kept'))).toBeGreaterThan(0)
  expect(head.get('x')).toBe('kept')
  // Where the first head has its third field, the second has the same letter in a value.
  expect(read('GET / HTTP/1.1\r\nHost: a\r\nX: 1\r\nY: 2\r\n\r\n')).toBeGreaterThan(0)
  expect(read('GET / HTTP/1.1\r\nHost: a\r\nX: 123Y\r\n\r\n')).toBeGreaterThan(0)
  expect([head.get('y'), head.getAll('y')]).toEqual([undefined, []])
  head.remove('y')
  expect(head.fieldCount).toBe(2)
  // The first head has a fourth field, and has dropped it.
  expect(read(withLines('X: 1', 'Y: 2', 'Connection: close'))).toBeGreaterThan(0)
  expect(read(withLines('X: 1', 'Y: longer'))).toBeGreaterThan(0)
  head.remove('x')
  expect(head.writeRequest(0, -1, '')).toBe(withLines('Y: longer'))
})

const refusedAtOnce: readonly (readonly [what: string, text: string, parse: typeof parseRequestHead])[] = [
  ['a character after the version', 'GET / HTTP/1.1X', parseRequestHead],
  ['a control character in a reason phrase', 'HTTP/1.1 200 O\0', parseResponseHead],
  ['a character after the status', 'HTTP/1.1 200X', parseResponseHead],
  ['a version that is not a number', 'GET / HTTP/1.X', parseRequestHead],
  ['a carriage return that ends no request line', 'GET / HTTP/1.1\rX', parseRequestHead],
  ['a carriage return without a line feed in a status line', 'HTTP/1.1 200 OK\rX', parseResponseHead],
]
test.each(refusedAtOnce)('%s is refused as soon as it is known', (_, text, parse) => {
  const bytes = Buffer.from(text, 'latin1')
  expect(parse(bytes, 0, bytes.length - 1, new Head(), LIMITS)).toBe(INCOMPLETE)
  expect(parse(bytes, 0, bytes.length, new Head(), LIMITS)).toBe(MALFORMED)
})

test.each([
  ['HTTP/1.1', 'Content-Length: 0\r\n'],
  ['HTTP/1.1', 'Content-Length: 1\r\n'],
  ['HTTP/1.0', ''],
])('a response of %s with chunks and "%s" is refused when its head is complete', (version, length) => {
  const bytes = Buffer.from(`${version} 200 OK\r\nTransfer-Encoding: chunked\r\n${length}\r\n`, 'latin1')
  const head = new Head()
  expect(parseResponseHead(bytes, 0, bytes.length - 1, head, LIMITS)).toBe(INCOMPLETE)
  expect(parseResponseHead(bytes, 0, bytes.length, head, LIMITS)).toBe(MALFORMED)
})
