import { expect, onTestFinished, test, vi } from 'vitest'
import { Head } from '../http/head.ts'
import { DEFAULT_SERVER_LIMITS } from '../limits.ts'
import {
  BODY_CHUNKED,
  BODY_CLOSE,
  BODY_LENGTH,
  BODY_NONE,
  type BodyKind,
  type BodySource,
  type ServerStream,
} from '../stream.ts'
import { answerWith, TextSink } from '../testing/recording-handler.ts'
import { GET, OK, OK_CLOSE, POST_CHUNKED, POST5, serverRig } from '../testing/server-rig.ts'

const setup = serverRig()

const CLOSE = GET.replace('\r\n\r\n', '\r\nConnection: close\r\n\r\n')
const EXPECTING = POST5.replace('\r\n\r\n', '\r\nExpect: 100-continue\r\n\r\n')
const { lingerTimeoutMs, writeTimeoutMs, bodyTimeoutMs, idleTimeoutMs } = DEFAULT_SERVER_LIMITS

/** More than a connection reads while nobody wants it. */
const MANY = GET.repeat(1000)

/** A connection whose requests the test answers. */
function held() {
  const streams: ServerStream[] = []
  return { ...setup((stream) => streams.push(stream)), streams }
}

test('a connection without a request is closed when it has been idle', () => {
  const { transport, pass, events } = setup()
  pass(idleTimeoutMs - 100)
  expect(transport.destroyed).toBe(false)
  pass(400)
  expect([transport.destroyed, events]).toEqual([true, []])
})

test.each(['', GET.slice(0, 5), GET])('a connection that is closed behind %j aborts no request', (text) => {
  const { connection, transport, events } = setup()
  transport.receive(text)
  connection.abort()
  expect([transport.destroyed, events]).toEqual([true, text === GET ? ['request GET /a', 'finished 2'] : []])
})

test('the response of an aborted request ends without an event', () => {
  const { connection, transport, streams, events } = held()
  transport.receive(GET)
  streams[0]!.respond(Head.response(200), BODY_CHUNKED, -1)
  connection.abort()
  streams[0]!.response.end()
  expect(events).toEqual(['request GET /a', 'aborted cancelled'])
})

test('a client that ends its direction without a request is let go', () => {
  const { transport, events } = setup()
  transport.receiveEnd()
  expect([transport.endedByUs, transport.destroyed, events]).toEqual([true, false, []])
})

test('a connection that should not be reused says so in its next response', () => {
  const { connection, transport } = setup()
  connection.discourageReuse()
  transport.receive(GET)
  expect([transport.text, transport.endedByUs]).toEqual([OK_CLOSE, true])
})

test('a drain gives a head that is arriving its time', () => {
  const { connection, transport, pass } = setup()
  transport.receive(GET.slice(0, 9))
  connection.drain()
  pass(5000)
  transport.receive(GET.slice(9))
  expect(transport.text).toBe(OK_CLOSE)
})

test('a drain gives a response that is being read its time', () => {
  const { connection, transport, streams, pass } = held()
  transport.receive(GET)
  transport.unsentBytes = 10
  streams[0]!.respond(Head.response(200), BODY_LENGTH, 2)
  connection.drain()
  pass(5000)
  expect(transport.destroyed).toBe(false)
})

test('a client that reads nothing of a response is disconnected after the write timeout', () => {
  const { transport, streams, pass, events } = held()
  transport.receive(GET)
  transport.unsentBytes = 10
  streams[0]!.respond(Head.response(200), BODY_LENGTH, 2)
  pass(writeTimeoutMs - 100)
  expect(transport.destroyed).toBe(false)
  pass(400)
  expect([transport.destroyed, events.at(-1)]).toEqual([true, 'aborted timeout'])
})

test('a client that reads nothing is disconnected while its next request is served, too', () => {
  const { transport, streams, pass, events } = held()
  transport.receive(`${GET}${GET}`)
  transport.unsentBytes = 10
  answerWith(streams[0]!, 'ok')
  for (let i = 0; i < 4; i++) pass(writeTimeoutMs + 200)
  expect([transport.destroyed, events.at(-1)]).toEqual([true, 'aborted timeout'])
})

test('behind its response, and when its client is gone, a request gets nothing more', () => {
  const { transport, streams } = held()
  transport.receive(GET)
  expect(streams[0]!.respond(Head.response(200), BODY_CHUNKED, -1)).toBe(true)
  streams[0]!.inform(Head.response(103))
  const text = 'HTTP/1.1 200 OK\r\ntransfer-encoding: chunked\r\n\r\n'
  expect(transport.text).toBe(text)
  streams[0]!.abort()
  streams[0]!.inform(Head.response(103))
  expect([streams[0]!.respond(Head.response(200), BODY_CHUNKED, -1), transport.text]).toEqual([true, text])
})

test('bytes behind those that came are not read', () => {
  const { connection, transport } = setup()
  const bytes = Buffer.from(`${GET}\r\n${GET}`, 'latin1')
  connection.bytes(bytes, 0, GET.length)
  transport.receive(GET)
  expect(transport.text).toBe(OK + OK)
})

test('pipelined requests are each served once, when the first is answered late', () => {
  const { transport, handler, events } = setup()
  let first: ServerStream | undefined
  handler.onRequest = (stream) => {
    if (first === undefined) first = stream
    else answerWith(stream, 'ok')
  }
  transport.receive(`${GET}${POST5}hello${GET}`)
  answerWith(first!, 'ok')
  expect(events.filter((event) => event.startsWith('request'))).toEqual([
    'request GET /a',
    'request POST /b',
    'request GET /a',
  ])
  expect([transport.text, transport.paused]).toEqual([OK.repeat(3), false])
})

test('a connection that a request in a row ends is not read on', () => {
  const { transport, streams, handler } = held()
  transport.receive(`${GET}${MANY}`)
  handler.onRequest = (stream) => stream.abort()
  answerWith(streams[0]!, 'ok')
  expect([transport.destroyed, transport.paused]).toEqual([true, true])
})

test('the time of a head begins with one byte that came before the last response', () => {
  const { transport, streams, pass } = held()
  transport.receive(`${GET}G`)
  answerWith(streams[0]!, 'ok')
  pass(30_300)
  expect(transport.text).toMatch(/okHTTP\/1.1 408 /)
})

test('each head has its own time', () => {
  const { transport, pass } = setup()
  transport.receive(GET.slice(0, 5))
  pass(20_000)
  transport.receive(GET.slice(5))
  transport.receive(GET.slice(0, 5))
  pass(20_000)
  expect(transport.text).toBe(OK)
  pass(10_300)
  expect(transport.text).toMatch(/okHTTP\/1.1 408 /)
})

test('one empty line before a request is ignored, two are not', () => {
  const { transport, events } = setup()
  transport.receive(`\r\n${GET}\r\n${GET}`)
  transport.receive(`\r\n\r\n${GET}`)
  expect(events.filter((event) => !event.startsWith('finished'))).toEqual([
    'request GET /a',
    'request GET /a',
    'refused malformed-request',
  ])
  const other = setup()
  other.transport.receive(`\rX${GET}`)
  expect(other.events).toEqual(['refused malformed-request'])
})

test.each<[request: string, kind: BodyKind, length: number]>([
  [GET, BODY_NONE, 0],
  [POST5.replace('5', '0'), BODY_NONE, 0],
  [POST5.replace('5', '1'), BODY_LENGTH, 1],
  [POST5, BODY_LENGTH, 5],
  [POST_CHUNKED, BODY_CHUNKED, -1],
])('the body of %j has the kind %i and the length %i', (request, kind, length) => {
  const { transport, streams } = held()
  transport.receive(request)
  const { body } = streams[0]!
  expect([body.kind, body.length, body.done]).toEqual([kind, length, length === 0])
})

test('100 is sent for a body, before the response', () => {
  const empty = held()
  empty.transport.receive(EXPECTING.replace('5', '0'))
  empty.streams[0]!.body.pipe(new TextSink())
  expect(empty.transport.text).toBe('')
  const late = held()
  late.transport.receive(EXPECTING)
  late.streams[0]!.respond(Head.response(200), BODY_LENGTH, 0)
  late.streams[0]!.body.pipe(new TextSink())
  expect(late.transport.text).toBe('HTTP/1.1 200 OK\r\ncontent-length: 0\r\nconnection: close\r\n\r\n')
})

test('100 is sent once, and then the rest of a body may follow an early response', () => {
  const { transport, streams } = held()
  transport.receive(EXPECTING)
  streams[0]!.body.pipe(new TextSink())
  streams[0]!.body.pause()
  streams[0]!.body.resume()
  answerWith(streams[0]!, 'ok')
  expect([transport.text, transport.endedByUs]).toEqual([`HTTP/1.1 100 Continue\r\n\r\n${OK}`, false])
})

test('nothing is read for a receiver that is backed up by what came last', () => {
  const { transport, streams } = held()
  const sink = new TextSink()
  transport.receive(POST5)
  streams[0]!.body.pipe(sink)
  sink.backed = true
  transport.receive('he')
  expect([sink.text, transport.paused]).toEqual(['he', true])
})

test.each([
  [65_536, OK],
  [65_537, OK_CLOSE],
])('an early response to a request of %i bytes', (length, text) => {
  const { transport } = setup()
  transport.receive(POST5.replace('5', `${length}`))
  expect([transport.text, transport.endedByUs]).toEqual([text, text === OK_CLOSE])
})

test('a body of any size is read, and answered whenever the handler wants', () => {
  const { transport, streams } = held()
  const sink = new TextSink()
  transport.receive(POST5.replace('5', '200000'))
  streams[0]!.body.pipe(sink)
  for (let i = 0; i < 4; i++) transport.receive('x'.repeat(50_000))
  expect([sink.text.length, sink.ended]).toEqual([200_000, true])
  answerWith(streams[0]!, 'ok')
  transport.receive(GET)
  answerWith(streams[1]!, 'ok')
  expect(transport.text).toBe(OK + OK)
})

test('a request that its receiver ends is not refused for what follows', () => {
  const { transport, streams, events } = held()
  const sink = new TextSink()
  transport.receive(POST_CHUNKED)
  sink.bytes = () => streams[0]!.abort()
  streams[0]!.body.pipe(sink)
  transport.receive('1\r\na\r\nzz')
  expect(events).toEqual(['request POST /c', 'aborted cancelled'])
})

test('the rest of a request that came before an early response is discarded', () => {
  const { transport, streams } = held()
  transport.receive(`${POST5}hello${GET}`)
  answerWith(streams[0]!, 'ok')
  answerWith(streams[1]!, 'ok')
  expect(transport.text).toBe(OK + OK)
})

test('64 KiB of a request are discarded, and not a byte more', () => {
  const { transport } = setup()
  transport.receive(`${POST_CHUNKED}fffff\r\n`)
  transport.receive('x'.repeat(65_536 - 7))
  expect(transport.endedByUs).toBe(false)
  transport.receive('x')
  expect(transport.endedByUs).toBe(true)
})

test('64 KiB of each request are discarded', () => {
  const { transport, events } = setup()
  const framing = '10000\r\n\r\n0\r\n\r\n'.length
  for (let i = 0; i < 2; i++) {
    transport.receive(`${POST_CHUNKED}${(65_536 - framing).toString(16).padStart(5, '0')}\r\n`)
    transport.receive('x'.repeat(65_536 - framing))
    transport.receive('\r\n0\r\n\r\n')
  }
  transport.receive(GET)
  expect([events.at(-1), transport.text]).toEqual(['finished 2', OK.repeat(3)])
})

test('the rest of a request that does not come is not awaited for long', () => {
  const { transport, pass } = setup()
  transport.receive(POST5)
  pass(lingerTimeoutMs - 100)
  expect(transport.endedByUs).toBe(false)
  pass(400)
  expect([transport.text, transport.endedByUs]).toEqual([OK, true])
})

test('a handler that ends the connection behind a response is obeyed', () => {
  const { transport, handler, connection } = setup()
  handler.finished = () => connection.abort()
  transport.receive(CLOSE)
  expect([transport.destroyed, transport.endedByUs]).toEqual([true, false])
})

test('a closed connection leaves no timer, also if its age is limited', () => {
  vi.useFakeTimers()
  onTestFinished(() => void vi.useRealTimers())
  const { connection } = setup(undefined, { maxConnectionMs: 60_000 })
  expect(vi.getTimerCount()).toBe(1)
  connection.abort()
  expect(vi.getTimerCount()).toBe(0)
})

test.each(['G', 'GE', GET.slice(0, -1)])(
  'a client that ends behind %j has its answer, and the connection ends',
  (rest) => {
    const { transport, streams, events } = held()
    transport.receive(`${GET}${rest}`)
    transport.receiveEnd()
    expect(transport.endedByUs).toBe(false)
    answerWith(streams[0]!, 'ok')
    expect([transport.text, transport.endedByUs, events.at(-1)]).toEqual([OK, true, 'finished 2'])
  },
)

test('behind a whole body reading goes on, though its consumer is backed up: the client may disconnect', () => {
  const sink = new TextSink()
  sink.backed = true
  const { transport } = setup((stream) => stream.body.pipe(sink))
  transport.receive(`${POST5}hello`)
  expect([sink.text, transport.paused]).toEqual(['hello', false])
})

test('a connection that lingers reads on, and is closed whatever its client does', () => {
  const { transport, streams, pass } = held()
  transport.receive(`${CLOSE}${MANY}`)
  expect(transport.paused).toBe(true)
  answerWith(streams[0]!, 'ok')
  expect([transport.paused, transport.endedByUs]).toEqual([false, true])
  pass(lingerTimeoutMs - 100)
  transport.receive(GET)
  transport.receiveEnd()
  expect([streams.length, transport.destroyed]).toEqual([1, false])
  pass(400)
  expect([transport.destroyed, transport.wasReset]).toEqual([true, false])
})

test.each([1, 5000])('a connection lingers while its client reads %i bytes that were queued before', (queued) => {
  const { transport, pass } = setup()
  transport.unsentBytes = queued
  transport.receive(CLOSE)
  pass(lingerTimeoutMs + 200)
  expect(transport.destroyed).toBe(false)
  pass(writeTimeoutMs + 200)
  expect(transport.destroyed).toBe(true)
})

test('a body that is resumed late does not keep a connection that lingers', () => {
  const { transport, streams, pass } = held()
  transport.receive(POST5.replace('5', '99999'))
  streams[0]!.body.pause()
  answerWith(streams[0]!, 'ok')
  streams[0]!.body.resume()
  pass(lingerTimeoutMs + 200)
  expect(transport.destroyed).toBe(true)
})

test('a refusal names the request that it ends, if there is one', () => {
  const { transport, streams, handler, connection } = held()
  const refused: unknown[] = []
  handler.refused = (_, code, stream) => {
    refused.push(code, stream)
    return ['x-refusal', code]
  }
  transport.receive(`${POST_CHUNKED}zz`)
  streams[0]!.body.pipe(new TextSink())
  const head = held()
  head.handler.refused = handler.refused
  head.transport.receive('GET / HTTP/1.1\r\n\r\n')
  expect(refused).toEqual(['malformed-request', connection, 'host-invalid', undefined])
})

test('a request that was refused gets no other response', () => {
  const { transport, handler } = setup((stream) => stream.body.pipe(new TextSink()))
  handler.aborted = (stream) => void stream.respond(Head.response(200), BODY_CHUNKED, -1)
  transport.receive(POST_CHUNKED)
  transport.receive('zz')
  expect(transport.text.match(/HTTP\/1.1 \d+/g)).toEqual(['HTTP/1.1 400'])
})

test('a response to HTTP/1.0 that is complete is not reset', () => {
  const { transport, connection } = setup((stream) => {
    stream.respond(Head.response(200), BODY_CLOSE, -1)
    stream.response.end()
  })
  transport.receive(GET.replace('1.1', '1.0'))
  connection.abort()
  expect([transport.endedByUs, transport.destroyed, transport.wasReset]).toEqual([true, true, false])
})

test('an event stream does not lift the time limits of the next request', () => {
  const { transport, streams, pass } = held()
  transport.receive(`${POST5}hel`)
  const head = Head.response(200)
  head.set('content-type', 'text/event-stream')
  streams[0]!.respond(head, BODY_LENGTH, 0)
  streams[0]!.body.pipe(new TextSink())
  transport.receive('lo')
  streams[0]!.response.end()
  transport.receive(POST5)
  streams[1]!.body.pipe(new TextSink())
  pass(bodyTimeoutMs + 200)
  expect(transport.text).toMatch(/HTTP\/1.1 408 /)
})

test('the response goes on when the client has read', () => {
  const { transport, streams } = held()
  let resumed = 0
  const source: BodySource = {
    kind: BODY_CHUNKED,
    length: -1,
    pipe: () => {},
    pause: () => {},
    resume: () => resumed++,
  }
  transport.receive(GET)
  streams[0]!.respond(Head.response(200), BODY_CHUNKED, -1)
  streams[0]!.response.source = source
  transport.drain()
  expect(resumed).toBe(1)
})

test.each([16_383, 16_384])('while nobody wants the body, the connection is read until %i bytes are held', (bytes) => {
  const { transport, streams } = held()
  transport.receive(POST5.replace('Length: 5', 'Length: 99999'))
  transport.receive('x'.repeat(bytes - 1))
  transport.receive('x')
  expect(transport.paused).toBe(bytes === 16_384)
  const sink = new TextSink()
  streams[0]!.body.pipe(sink)
  expect([sink.text.length, transport.paused]).toEqual([bytes, false])
})

test.each<[text: string, received: string, end: string[]]>([
  [`${POST5}hello`, 'hello', []],
  [`${POST5}he`, 'he', ['aborted reset']],
  [`${POST_CHUNKED}2\r\nhe\r\n0\r\n\r\n`, 'he', []],
])('a client may end its direction after %j, before the body has a consumer', (text, received, end) => {
  const { transport, streams, events } = held()
  transport.receive(text)
  transport.receiveEnd()
  expect(events).toEqual([expect.stringContaining('request POST')])
  const sink = new TextSink()
  streams[0]!.body.pipe(sink)
  expect(sink.text).toBe(received)
  expect(events.slice(1)).toEqual(end)
  if (end.length > 0) return
  answerWith(streams[0]!, 'ok')
  expect([sink.ended, transport.text, transport.endedByUs]).toEqual([true, OK_CLOSE, true])
})

test('of requests in a row before the end of the client, all are answered', () => {
  const { transport, streams } = held()
  transport.receive(`${GET}${GET}`)
  transport.receiveEnd()
  answerWith(streams[0]!, 'ok')
  expect(transport.endedByUs).toBe(false)
  answerWith(streams[1]!, 'ok')
  expect([transport.text, transport.endedByUs]).toEqual([`${OK}${OK_CLOSE}`, true])
})
