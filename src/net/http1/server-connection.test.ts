import { expect, test } from 'vitest'
import { verifies } from '#test/support/verifies.ts'
import { FixedBody } from '../body/fixed-body.ts'
import { Head } from '../http/head.ts'
import { DEFAULT_SERVER_LIMITS } from '../limits.ts'
import { BODY_CHUNKED, BODY_CLOSE, BODY_LENGTH, BODY_NONE, type BodySink, type ServerStream } from '../stream.ts'
import { answerWith, TextSink } from '../testing/recording-handler.ts'
import { GET, OK, OK_CLOSE, POST_CHUNKED, POST5, serverRig } from '../testing/server-rig.ts'

const setup = serverRig()

test('head and body of a response are sent in one write', () => {
  const { transport, events } = setup()
  transport.receive(GET)
  expect(transport.writes).toEqual([OK])
  expect(events).toEqual(['request GET /a', 'finished 2'])
})

test('a head without body bytes is sent at the end of the turn', () => {
  const { transport } = setup((stream) => stream.respond(Head.response(200), BODY_CHUNKED, -1))
  transport.receive(GET)
  expect(transport.writes).toEqual(['HTTP/1.1 200 OK\r\ntransfer-encoding: chunked\r\n\r\n'])
})

test('a large body is sent in several writes', () => {
  const { transport } = setup((stream) => answerWith(stream, 'x'.repeat(70_000)))
  transport.receive(GET)
  expect(transport.writes.map((text) => text.length)).toEqual([42, 65_536, 4464])
})

const MESSAGES = [
  `${GET}`,
  `${POST5}hello${GET}`,
  `${POST_CHUNKED}5;x=y\r\nhello\r\n1\r\n!\r\n0\r\nT: u\r\n\r\n${GET}`,
  `\r\n${GET}\r\n${POST5}hello\r\n`,
]

test.each(MESSAGES)('in two parts at every point, and byte by byte: %j', (text) => {
  const requests = text.split('HTTP/1.1').length - 1
  const bodies: TextSink[] = []
  const onRequest = (stream: ServerStream) => {
    const sink = new TextSink()
    bodies.push(sink)
    sink.onEnd = () => answerWith(stream, 'ok')
    stream.body.pipe(sink)
  }
  const whole = setup(onRequest)
  whole.transport.receive(text)
  const expected = { events: whole.events, bodies: bodies.map((sink) => sink.text) }
  expect(whole.transport.text).toBe(OK.repeat(requests))
  for (let cut = 1; cut < text.length; cut++) {
    bodies.length = 0
    const { transport, events } = setup(onRequest)
    transport.receive(text.slice(0, cut))
    transport.receive(text.slice(cut))
    expect(transport.text).toBe(OK.repeat(requests))
    expect(events.filter((event) => event.startsWith('request'))).toHaveLength(requests)
    expect(bodies.map((sink) => sink.ended)).toEqual(bodies.map(() => true))
    expect(bodies.map((sink) => sink.text)).toEqual(expected.bodies)
  }
  bodies.length = 0
  const slow = setup(onRequest)
  for (const byte of text) slow.transport.receive(byte)
  expect(slow.transport.text).toBe(OK.repeat(requests))
  expect(bodies.map((sink) => sink.text)).toEqual(expected.bodies)
})

test('pipelined requests wait for the response of the previous one', () => {
  const streams: ServerStream[] = []
  const { transport, events } = setup((stream) => streams.push(stream))
  transport.receive(`${GET}${GET.replace('/a', '/z')}`)
  expect(events).toEqual(['request GET /a'])
  answerWith(streams[0]!, 'one')
  expect(events).toEqual(['request GET /a', 'finished 3', 'request GET /z'])
  answerWith(streams[1]!, 'two')
  expect(transport.text.match(/one|two/g)).toEqual(['one', 'two'])
})

test('a body is held until it has a consumer, and not read while the consumer is backed up', () => {
  const sink = new TextSink()
  let stream!: ServerStream
  const { transport } = setup((one) => (stream = one))
  transport.receive(`${POST5}he`)
  expect(transport.paused).toBe(false)
  sink.backed = true
  stream.body.pipe(sink)
  expect(sink.text).toBe('he')
  expect(transport.paused).toBe(true)
  sink.backed = false
  sink.source?.resume()
  expect(transport.paused).toBe(false)
  transport.receive('llo')
  expect([sink.text, sink.ended, sink.source]).toEqual(['hello', true, null])
})

test('after an early response, a small rest of the body is discarded', () => {
  const { transport, events } = setup()
  transport.receive(`${POST5}he`)
  expect(transport.text).toBe(OK)
  transport.receive(`llo${GET}`)
  expect(transport.text).toBe(OK + OK)
  expect(events.at(-2)).toBe('request GET /a')
})

test('the consumer of the body is aborted after an early response', () => {
  const sink = new TextSink()
  const { transport } = setup((stream) => {
    stream.body.pipe(sink)
    answerWith(stream, 'ok')
  })
  transport.receive(`${POST5}he`)
  expect([sink.text, sink.aborted]).toEqual(['', 'cancelled'])
})

test('for a large rest the connection closes, with announcement if the length is known', () => {
  const { transport, pass, state } = setup()
  transport.receive(POST5.replace('5', '999999'))
  expect(transport.text).toBe(OK_CLOSE)
  expect([transport.endedByUs, transport.destroyed]).toEqual([true, false])
  transport.receive('x'.repeat(1000))
  pass(DEFAULT_SERVER_LIMITS.lingerTimeoutMs + 200)
  expect(transport.destroyed).toBe(true)
  expect(state.closed).toBe(0)
})

test('a large chunked rest closes the connection when its size is known', () => {
  const { transport } = setup()
  transport.receive(`${POST_CHUNKED}fffff\r\n`)
  expect(transport.text).toBe(OK)
  expect(transport.endedByUs).toBe(false)
  transport.receive('x'.repeat(65_537))
  expect(transport.endedByUs).toBe(true)
})

test('a lingering connection can be closed', () => {
  const { connection, transport } = setup()
  transport.receive(GET.replace('\r\n\r\n', '\r\nConnection: close\r\n\r\n'))
  expect([transport.endedByUs, transport.destroyed]).toEqual([true, false])
  connection.abort()
  expect(transport.destroyed).toBe(true)
})

test('a lingering connection waits while the client still reads', () => {
  const { transport, pass } = setup()
  transport.receive(GET.replace('\r\n\r\n', '\r\nConnection: close\r\n\r\n'))
  transport.unsentBytes = 5000
  pass(DEFAULT_SERVER_LIMITS.lingerTimeoutMs + 200)
  expect(transport.destroyed).toBe(false)
  transport.unsentBytes = 4000
  pass(DEFAULT_SERVER_LIMITS.writeTimeoutMs + 200)
  expect(transport.destroyed).toBe(false)
  pass(DEFAULT_SERVER_LIMITS.writeTimeoutMs + 200)
  expect(transport.destroyed).toBe(true)
})

test.each([
  ['connection: close', GET.replace('\r\n\r\n', '\r\nConnection: close\r\n\r\n'), OK_CLOSE, true],
  ['HTTP/1.0', GET.replace('1.1', '1.0'), OK_CLOSE, true],
  [
    'HTTP/1.0 with keep-alive',
    GET.replace('1.1', '1.0').replace('\r\n\r\n', '\r\nConnection: keep-alive\r\n\r\n'),
    OK.replace('\r\n\r\n', '\r\nconnection: keep-alive\r\n\r\n'),
    false,
  ],
])('%s', (_, request, response, closes) => {
  const { transport } = setup()
  transport.receive(request)
  expect(transport.text).toBe(response)
  expect(transport.endedByUs).toBe(closes)
})

const HEAD = GET.replace('GET', 'HEAD')

test.each([
  ['HEAD with a length', HEAD, 200, BODY_LENGTH, 5, 'content-length: 5\r\n'],
  ['HEAD, length announced without body', HEAD, 200, BODY_NONE, 5, 'content-length: 5\r\n'],
  ['HEAD, nothing known', HEAD, 200, BODY_NONE, -1, ''],
  ['HEAD of a chunked body', HEAD, 200, BODY_CHUNKED, -1, ''],
  ['204', GET, 204, BODY_LENGTH, 5, ''],
  ['304', GET, 304, BODY_NONE, 5, 'content-length: 5\r\n'],
  ['304 of its own', GET, 304, BODY_NONE, 0, ''],
  ['200 without body', GET, 200, BODY_NONE, -1, 'content-length: 0\r\n'],
] as const)('%s has no response body', (_, request, status, kind, length, line) => {
  const { transport, events } = setup((stream) => {
    stream.respond(Head.response(status), kind, length)
    new FixedBody('hello').pipe(stream.response)
  })
  transport.receive(request)
  expect(transport.text).toMatch(new RegExp(`^HTTP/1.1 ${status} [A-Za-z ]+\r\n${line}\r\n$`))
  expect(events.at(-1)).toBe('finished 0')
  transport.receive(GET)
  expect(events.at(-2)).toBe('request GET /a')
})

test.each([
  ['1.1', BODY_CHUNKED, 'transfer-encoding: chunked\r\n\r\n5\r\nhello\r\n0\r\n\r\n', false],
  ['1.1', BODY_CLOSE, 'transfer-encoding: chunked\r\n\r\n5\r\nhello\r\n0\r\n\r\n', false],
  ['1.0', BODY_CHUNKED, 'connection: close\r\n\r\nhello', true],
  ['1.0', BODY_CLOSE, 'connection: close\r\n\r\nhello', true],
] as const)('to HTTP/%s a body of kind %i is sent as %j', (version, kind, text, closes) => {
  const { transport } = setup((stream) => {
    expect(stream.version).toBe(version)
    stream.respond(Head.response(200), kind, -1)
    new FixedBody('hello').pipe(stream.response)
  })
  transport.receive(GET.replace('1.1', version).replace('\r\n\r\n', '\r\nConnection: keep-alive\r\n\r\n'))
  expect(transport.text).toBe(`HTTP/1.1 200 OK\r\n${text}`)
  expect(transport.endedByUs).toBe(closes)
})

test('a body shorter than announced resets the connection', () => {
  const { transport, events } = setup((stream) => {
    stream.respond(Head.response(200), BODY_LENGTH, 9)
    new FixedBody('hello').pipe(stream.response)
  })
  transport.receive(GET)
  expect(transport.destroyed).toBe(true)
  expect(events.at(-1)).toBe('cut protocol-error')
})

test('a body longer than announced is not sent', () => {
  const { transport } = setup((stream) => {
    stream.respond(Head.response(200), BODY_LENGTH, 3)
    new FixedBody('hello').pipe(stream.response)
  })
  transport.receive(GET)
  expect([transport.text, transport.destroyed]).toEqual(['', true])
})

const EXPECTING = POST5.replace('\r\n\r\n', '\r\nExpect: 100-continue\r\n\r\n')

test('100 Continue is sent when the body has a consumer', () => {
  const sink = new TextSink()
  const { transport } = setup((stream) => {
    stream.body.pipe(sink)
    if (sink.ended) answerWith(stream, 'ok')
  })
  transport.receive(EXPECTING)
  expect(transport.text).toBe('HTTP/1.1 100 Continue\r\n\r\n')
  transport.receive('hello')
  expect(sink.text).toBe('hello')
})

test('an expectation that is passed on gets 100 when the backend has answered', () => {
  const sink = new TextSink()
  const streams: ServerStream[] = []
  const { transport } = setup((stream) => {
    streams.push(stream)
    expect(stream.passExpectation()).toBe(true)
    stream.body.pipe(sink)
  })
  transport.receive(EXPECTING)
  expect(transport.text).toBe('')
  for (let times = 0; times < 2; times++) streams[0]!.inform(Head.response(100))
  expect(transport.text).toBe('HTTP/1.1 100 Continue\r\n\r\n')
  transport.receive('hello')
  expect(sink.text).toBe('hello')
})

test('an early refusal instead of 100 closes the connection, because the body may or may not follow', () => {
  const { transport } = setup((stream) => answerWith(stream, 'ok'))
  transport.receive(EXPECTING)
  expect(transport.text).toBe(OK_CLOSE)
  transport.receive(`hello${GET}`)
  expect(transport.text).toBe(OK_CLOSE)
})

test('a client that does not wait for 100 keeps its connection once its body has arrived', () => {
  const streams: ServerStream[] = []
  const { transport } = setup((stream) => {
    streams.push(stream)
    if (stream.passExpectation()) stream.body.pipe(new TextSink())
    else answerWith(stream, 'ok')
  })
  transport.receive(`${EXPECTING}hello${GET}`)
  answerWith(streams[0]!, 'ok')
  expect(transport.text).toBe(OK + OK)
})

test('interim responses are sent only to HTTP/1.1 clients; 100 only to those that expect it', () => {
  const onRequest = (stream: ServerStream) => {
    stream.inform(Head.response(100))
    stream.inform(Head.response(103))
    answerWith(stream, 'ok')
  }
  const newer = setup(onRequest)
  newer.transport.receive(GET)
  expect(newer.transport.text).toBe(`HTTP/1.1 103 Early Hints\r\n\r\n${OK}`)
  const older = setup(onRequest)
  older.transport.receive(GET.replace('1.1', '1.0'))
  expect(older.transport.text).toBe(OK_CLOSE)
})

test.each([
  ['malformed-request', 400, 'malformed request', 'GET / HTTP/1.1\nHost: x\n\n'],
  ['tls-not-expected', 400, 'TLS on a port without TLS', '\x16\x03\x01\x02\0'],
  ['tls-not-expected', 400, 'TLS on a port without TLS', '\x16'],
  ['malformed-request', 400, 'malformed request', '\x16\x01'],
  ['host-invalid', 400, 'invalid host', 'GET / HTTP/1.1\r\n\r\n'],
  ['uri-too-long', 414, 'request target too long', `GET /${'x'.repeat(65_537)}`],
  ['headers-too-large', 431, 'request header fields too large', `GET / HTTP/1.1\r\nX: ${'x'.repeat(65_537)}`],
  ['headers-too-large', 431, 'request header fields too large', `GET / HTTP/1.1\r\n${'X: y\r\n'.repeat(101)}`],
  ['expectation-failed', 417, 'expectation failed', GET.replace('\r\n\r\n', '\r\nExpect: x\r\n\r\n')],
  ['version-not-supported', 505, 'http version not supported', 'GET / HTTP/2.0\r\n\r\n'],
  ['method-not-implemented', 501, 'not implemented', 'X'.repeat(65)],
])('refuses with %s', (code, status, text, request) => {
  const { transport, events } = setup()
  transport.receive(request)
  transport.receive(GET)
  expect(events).toEqual([`refused ${code}`])
  const [line] = transport.text.split('\r\n')
  expect(line).toMatch(new RegExp(`^HTTP/1.1 ${status} `))
  expect(transport.text.slice((line ?? '').length)).toBe(
    `\r\ncontent-type: text/plain\r\nx-refusal: refused ${code}\r\ncontent-length: ${text.length}\r\nconnection: close\r\n\r\n${text}`,
  )
  expect([transport.endedByUs, transport.destroyed]).toEqual([true, false])
})

test('bytes of TLS after a request are malformed', () => {
  const { transport, events } = setup((stream) => answerWith(stream, 'ok'))
  transport.receive(`${GET}\x16\x03\x01`)
  expect(events.at(-1)).toBe('refused malformed-request')
})

test('a body with invalid framing is refused, and its consumer aborted', () => {
  const sink = new TextSink()
  const { transport, events } = setup((stream) => stream.body.pipe(sink))
  transport.receive(`${POST_CHUNKED}1\r\na\r\nzz`)
  expect(transport.text).toMatch(/^HTTP\/1.1 400 /)
  expect(events).toEqual(['request POST /c', 'refused malformed-request', 'aborted protocol-error'])
  expect(sink.aborted).toBe('protocol-error')
})

test('a body with invalid framing aborts a response that has begun', () => {
  const { transport, events } = setup((stream) => {
    stream.body.pipe(new TextSink())
    stream.respond(Head.response(200), BODY_CHUNKED, -1)
  })
  transport.receive(POST_CHUNKED)
  transport.receive('zz')
  expect(transport.text).toBe('HTTP/1.1 200 OK\r\ntransfer-encoding: chunked\r\n\r\n')
  expect(transport.destroyed).toBe(true)
  expect(events.slice(1)).toEqual(['refused malformed-request', 'aborted protocol-error'])
})

verifies(
  ['frontend.http/http1MaxHeaders', 'frontend.http/http1MaxHeaders-default'],
  'a request with 100 fields is served, one with 101 refused',
  () => {
    const request = (fields: number) => `GET / HTTP/1.1\r\nHost: x\r\n${'X: y\r\n'.repeat(fields - 1)}\r\n`
    const { transport, events } = setup()
    transport.receive(request(100))
    expect(transport.text).toBe(OK)
    transport.receive(request(101))
    expect(events.at(-1)).toBe('refused headers-too-large')
  },
)

verifies(
  ['frontend.http/http1IdleTimeout', 'frontend.http/http1IdleTimeout-default'],
  'an idle connection is closed silently after ten minutes',
  () => {
    const { transport, events, pass } = setup()
    pass(599_000)
    transport.receive(GET)
    pass(599_000)
    expect(transport.destroyed).toBe(false)
    pass(1300)
    expect([transport.text, transport.destroyed]).toEqual([OK, true])
    expect(events).toEqual(['request GET /a', 'finished 2'])
  },
)

test('a head must be complete 30 s after its first byte', () => {
  const { transport, events, pass } = setup()
  pass(500_000)
  for (const byte of 'GET / HTTP/1.1\r\nX: abcdefghijklm') {
    pass(950)
    transport.receive(byte)
  }
  expect(transport.text).toBe('')
  pass(2000)
  expect(transport.text).toMatch(/^HTTP\/1.1 408 /)
  expect(events).toEqual(['refused request-timeout-reading'])
})

test('the time limit of a pipelined head also begins with its first byte', () => {
  const { transport, pass } = setup()
  transport.receive(`${GET}GET /`)
  pass(30_300)
  expect(transport.text).toMatch(/okHTTP\/1.1 408 /)
})

test.each([
  ['text/event-stream', ''],
  ['Text/Event-Stream; charset=utf-8', ''],
  ['text/plain', 'aborted protocol-error'],
])('a body that stalls after the response head of type %s', (type, expected) => {
  const { transport, events, pass } = setup((stream) => {
    stream.body.pipe(new TextSink())
    const head = Head.response(200)
    head.set('content-type', type)
    stream.respond(head, BODY_CHUNKED, -1)
  })
  transport.receive(POST5)
  for (let i = 0; i < 100; i++) pass(60_000)
  expect(events.filter((event) => event.startsWith('aborted')).join()).toBe(expected)
})

test('a body that stalls for 60 s is refused, unless its consumer is backed up', () => {
  const sink = new TextSink()
  const { transport, events, pass } = setup((stream) => stream.body.pipe(sink))
  transport.receive(POST5)
  pass(59_000)
  transport.receive('h')
  pass(59_000)
  sink.backed = true
  transport.receive('e')
  pass(600_000)
  expect(transport.text).toBe('')
  sink.source?.resume()
  pass(60_300)
  expect(transport.text).toMatch(/^HTTP\/1.1 408 /)
  expect(events.slice(1)).toEqual(['refused request-timeout-reading', 'aborted timeout'])
  expect(sink.aborted).toBe('timeout')
})

test('the connection does not limit the time until the response', () => {
  let stream!: ServerStream
  const { transport, pass } = setup((one) => (stream = one))
  transport.receive(GET)
  pass(3_600_000)
  answerWith(stream, 'ok')
  expect(transport.text).toBe(OK)
})

test('a client that does not read its response is disconnected, a slow one is not', () => {
  const { transport, pass, events } = setup((stream) => {
    stream.respond(Head.response(200), BODY_CHUNKED, -1)
    stream.response.bytes(Buffer.from('x'), 0, 1)
  })
  transport.receive(GET)
  pass(3_600_000)
  for (const unsentBytes of [9000, 8000, 7000, 7000]) {
    expect(transport.destroyed).toBe(false)
    transport.unsentBytes = unsentBytes
    pass(DEFAULT_SERVER_LIMITS.writeTimeoutMs + 200)
  }
  expect(transport.destroyed).toBe(true)
  expect(events.at(-1)).toBe('aborted timeout')
})

test('a client that ends its direction still gets its response', () => {
  let stream!: ServerStream
  const { transport } = setup((one) => (stream = one))
  transport.receive(GET)
  transport.receiveEnd()
  answerWith(stream, 'ok')
  expect([transport.text, transport.endedByUs]).toEqual([OK_CLOSE, true])
})

test('a client that ended its direction is disconnected when nothing is sent to it for a while', () => {
  const { transport, events, pass } = setup(() => undefined)
  transport.receive(GET)
  transport.receiveEnd()
  pass(DEFAULT_SERVER_LIMITS.endedTimeoutMs - 200)
  expect(transport.destroyed).toBe(false)
  pass(400)
  expect([transport.destroyed, events.at(-1)]).toEqual([true, 'aborted reset'])
})

test('a client that ended its direction gets a response that makes progress', () => {
  let stream!: ServerStream
  const { transport, events, pass } = setup((one) => (stream = one))
  transport.receive(GET)
  transport.receiveEnd()
  stream.respond(Head.response(200), BODY_CHUNKED, -1)
  for (let i = 0; i < 5; i++) {
    stream.response.bytes(Buffer.from('more'), 0, 4)
    pass(DEFAULT_SERVER_LIMITS.endedTimeoutMs)
    expect(transport.destroyed).toBe(false)
  }
  for (let i = 0; i < 2; i++) pass(DEFAULT_SERVER_LIMITS.endedTimeoutMs + 200)
  expect([transport.destroyed, events.at(-1)]).toEqual([true, 'aborted reset'])
})

test('a request that ends with its client is aborted as soon as the client ends its direction', () => {
  for (const [first, second] of [
    ['waits', 'ends'],
    ['ends', 'waits'],
  ]) {
    let stream!: ServerStream
    const { transport, events } = setup((one) => (stream = one))
    transport.receive(GET)
    for (const step of [first, second]) {
      expect(transport.destroyed).toBe(false)
      if (step === 'waits') stream.endWithClient!()
      else transport.receiveEnd()
    }
    expect([transport.destroyed, events.at(-1)]).toEqual([true, 'aborted reset'])
  }
})

test('a request that ends with its client does so although another request follows it', () => {
  for (const order of ['waits, ends', 'ends, waits', 'ends before its body is read']) {
    let stream!: ServerStream
    const { transport, events } = setup((one) => (stream = one))
    const isLate = order === 'ends before its body is read'
    transport.receive((isLate ? `${POST5}hello` : GET) + GET)
    if (order === 'waits, ends') stream.endWithClient!()
    transport.receiveEnd()
    if (order !== 'waits, ends') stream.endWithClient!()
    if (isLate) stream.body.pipe(new TextSink())
    expect([order, transport.destroyed, events.at(-1)]).toEqual([order, true, 'aborted reset'])
  }
})

test('the next request of the connection may wait for its response again', () => {
  let stream!: ServerStream
  const { transport } = setup((one) => (stream = one))
  transport.receive(GET)
  stream.endWithClient!()
  answerWith(stream, 'ok')
  transport.receive(GET)
  transport.receiveEnd()
  expect(transport.destroyed).toBe(false)
})

test('a client that ends its direction in the middle of a body is disconnected', () => {
  const sink = new TextSink()
  const { transport, events } = setup((stream) => stream.body.pipe(sink))
  transport.receive(`${POST5}he`)
  transport.receiveEnd()
  expect(events.at(-1)).toBe('aborted reset')
  expect([sink.aborted, transport.destroyed]).toEqual(['reset', true])
})

test('a lost connection aborts the current request once', async () => {
  let stream!: ServerStream
  const { transport, events, state } = setup((one) => (stream = one))
  transport.receive(GET)
  transport.destroy()
  await Promise.resolve()
  expect(events).toEqual(['request GET /a', 'aborted reset'])
  expect(state.closed).toBe(1)
  answerWith(stream, 'ok')
  expect(events).toHaveLength(2)
})

test('an aborted body that ends with the connection does not look complete', () => {
  let response!: BodySink
  const { transport, events } = setup((stream) => {
    stream.respond(Head.response(200), BODY_CLOSE, -1)
    stream.response.bytes(Buffer.from('half'), 0, 4)
    response = stream.response
  })
  transport.receive(GET.replace('1.1', '1.0'))
  response.abort('reset')
  expect([transport.text.endsWith('half'), transport.wasReset]).toEqual([true, true])
  expect(events.at(-1)).toBe('cut reset')
})

/** Until the event loop has read what has arrived. */
const turn = () => new Promise((resolve) => setImmediate(resolve))

test('drain serves a request that was on its way, and closes an idle connection after a grace', async () => {
  const idle = setup()
  idle.connection.drain()
  idle.pass(490)
  expect(idle.transport.destroyed).toBe(false)
  idle.pass(300)
  await turn()
  expect(idle.transport.destroyed).toBe(true)
  let late!: ServerStream
  const crossing = setup((one) => (late = one))
  crossing.connection.drain()
  crossing.pass(100)
  crossing.transport.receive(GET)
  crossing.pass(10_000)
  answerWith(late, 'ok')
  expect([crossing.transport.text, crossing.transport.endedByUs]).toEqual([OK_CLOSE, true])
})

test('drain serves a request that arrived within the grace, while the worker was busy', async () => {
  const { connection, transport, pass } = setup()
  connection.drain()
  pass(600)
  transport.receive(GET)
  await turn()
  expect([transport.text, transport.endedByUs]).toEqual([OK_CLOSE, true])
})

test('drain serves a request that arrived so and is answered later, or whose head is incomplete', async () => {
  let stream!: ServerStream
  const whole = setup((one) => (stream = one))
  const part = setup()
  for (const { connection, transport, pass, text } of [
    { ...whole, text: GET },
    { ...part, text: GET.slice(0, 9) },
  ]) {
    connection.drain()
    pass(600)
    transport.receive(text)
  }
  await turn()
  answerWith(stream, 'ok')
  part.transport.receive(GET.slice(9))
  for (const { transport } of [whole, part]) expect([transport.text, transport.endedByUs]).toEqual([OK_CLOSE, true])
})

test('a response that began before the drain does not keep its connection', async () => {
  let stream!: ServerStream
  const { connection, transport, pass } = setup((one) => (stream = one))
  transport.receive(GET)
  stream.respond(Head.response(200), BODY_LENGTH, 2)
  connection.drain()
  stream.response.bytes(Buffer.from('ok'), 0, 2)
  stream.response.end()
  expect(transport.destroyed).toBe(false)
  pass(600)
  await turn()
  expect(transport.destroyed).toBe(true)
})

test('drain closes a busy connection after its response', () => {
  let stream!: ServerStream
  const busy = setup((one) => (stream = one))
  busy.transport.receive(GET)
  busy.connection.drain()
  answerWith(stream, 'ok')
  expect([busy.transport.text, busy.transport.endedByUs]).toEqual([OK_CLOSE, true])
})

test('drain lets a response that is being sent finish', async () => {
  const { connection, transport, pass } = setup()
  transport.receive(GET)
  transport.unsentBytes = 10
  connection.drain()
  pass(600)
  await turn()
  expect([transport.endedByUs, transport.destroyed]).toEqual([true, false])
})

verifies(
  ['frontend.http/maxConnectionDuration', 'frontend.http/maxConnectionDuration-in-flight'],
  'a connection at its maximum age ends after its current request',
  async () => {
    const limits = { maxConnectionMs: 60_000 }
    const idle = setup(undefined, limits)
    idle.pass(59_000)
    idle.transport.receive(GET)
    expect([idle.transport.text, idle.transport.destroyed]).toEqual([OK, false])
    idle.pass(1300)
    idle.pass(700)
    await turn()
    expect(idle.transport.destroyed).toBe(true)
    let stream!: ServerStream
    const busy = setup((one) => (stream = one), limits)
    busy.transport.receive(GET)
    busy.pass(60_300)
    answerWith(stream, 'ok')
    expect([busy.transport.text, busy.transport.endedByUs]).toEqual([OK_CLOSE, true])
  },
)

test('a request gets only one response', () => {
  const { transport } = setup((stream) => {
    stream.respond(Head.response(200), BODY_CHUNKED, -1)
    expect(() => stream.respond(Head.response(200), BODY_CHUNKED, -1)).toThrow('already been answered')
    stream.response.end()
  })
  transport.receive(GET)
})
