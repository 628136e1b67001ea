import { expect, test } from 'vitest'
import { BODY_CHUNKED, BODY_CLOSE, BODY_LENGTH, BODY_NONE, type BodyKind } from '../stream.ts'
import { ExchangeRig } from '../testing/exchange-rig.ts'
import { MemoryTransport } from '../testing/memory-transport.ts'
import type { Carrier } from './carrier.ts'

/** An exchange whose request has been sent with this text. */
function setup({ method = 'GET', connected = true, awaitsRoom = false, text = 'REQUEST' } = {}) {
  const rig = new ExchangeRig()
  const { exchange, events } = rig
  const transport = new MemoryTransport()
  const connection: Carrier = {
    connected,
    awaitsRoom,
    destroy: () => events.push('destroy'),
    bodyWanted: () => events.push('wanted'),
    bodyHeld: () => events.push('held'),
    endOutput: () => events.push('end output'),
    abandonExchange: () => events.push('abandoned'),
  }
  const begin = (next = method) => {
    rig.begin(next)
    exchange.connection = connection
    exchange.request.start(transport, text, BODY_NONE, -1)
    exchange.request.end()
  }
  begin()
  return { ...rig, rig, exchange, transport, connection, begin, take: () => rig.take() }
}

const responses: [method: string, head: string, kind: BodyKind, length: number, kept: boolean][] = [
  ['GET', '200 OK\r\nContent-Length: 5', BODY_LENGTH, 5, true],
  ['GET', '200 OK\r\nContent-Length: 1', BODY_LENGTH, 1, true],
  ['GET', '200 OK\r\nContent-Length: 0', BODY_NONE, 0, true],
  ['GET', '200 OK\r\nTransfer-Encoding: chunked', BODY_CHUNKED, -1, true],
  ['GET', '200 OK', BODY_CLOSE, -1, false],
  ['GET', '200 OK\r\nConnection: close\r\nContent-Length: 5', BODY_LENGTH, 5, false],
  ['HEAD', '200 OK\r\nContent-Length: 5', BODY_NONE, 5, true],
  ['HEAD', '200 OK\r\nContent-Length: 0', BODY_NONE, 0, true],
  ['HEAD', '200 OK\r\nTransfer-Encoding: chunked', BODY_NONE, -1, true],
  ['HEAD', '200 OK', BODY_NONE, -1, false],
  ['GET', '204 No Content', BODY_NONE, -1, true],
  ['GET', '204 No Content\r\nContent-Length: 0', BODY_NONE, 0, true],
  ['GET', '204 No Content\r\nContent-Length: 1', BODY_NONE, 1, false],
  ['GET', '204 No Content\r\nTransfer-Encoding: chunked', BODY_NONE, -1, false],
  ['GET', '304 Not Modified', BODY_NONE, -1, true],
  ['HEAD', '304 Not Modified', BODY_NONE, -1, true],
  ['GET', '304 Not Modified\r\nContent-Length: 5', BODY_NONE, 5, false],
]
test.each(responses)(
  'to %s, %j has a body of kind %i and length %i; the connection is kept: %s',
  (method, head, ...rest) => {
    const { rig, exchange } = setup({ method })
    rig.receiveHead(`HTTP/1.1 ${head}\r\n\r\n`)
    const kept = exchange.takeResponse()
    expect([exchange.body.kind, exchange.body.length, kept]).toEqual(rest)
    expect(exchange.reading).toBe(true)
  },
)

test('a connection is not kept for a server of HTTP/1.0, nor before the request ends', () => {
  const older = setup()
  older.rig.receiveHead('HTTP/1.0 200 OK\r\nConnection: keep-alive\r\nContent-Length: 5\r\n\r\n')
  expect(older.exchange.takeResponse()).toBe(false)
  const early = setup()
  early.exchange.request.start(early.transport, '', BODY_LENGTH, 5)
  early.rig.receiveHead('HTTP/1.1 200 OK\r\nContent-Length: 5\r\n\r\n')
  expect(early.exchange.takeResponse()).toBe(false)
})

test('a response ends the time limit, and then is over', () => {
  const { rig, exchange, take } = setup()
  exchange.limit.start(1000, false)
  rig.receiveHead('HTTP/1.1 200 OK\r\nContent-Length: 5\r\n\r\n')
  expect([exchange.reading, exchange.takeResponse(), exchange.reading]).toEqual([false, true, true])
  expect(rig.limit).toBeUndefined()
  exchange.announceResponse()
  exchange.finish()
  expect([exchange.reading, exchange.connection]).toEqual([false, null])
  expect(take()).toEqual(['response 200', 'wanted', 'abandoned'])
  exchange.fail('reset')
  exchange.cancel()
  exchange.failUnsent({ code: 'connection-refused', detail: undefined })
  expect(take()).toEqual([])
})

test.each([
  ['the connection fails', true, 'failed reset: undefined, maybe processed'],
  ['the connection fails before it is open', false, 'failed reset: undefined, unsent'],
])('%s', (_, connected, event) => {
  const { rig, exchange, transport, take } = setup({ connected })
  exchange.request.start(transport, '', BODY_LENGTH, 5)
  exchange.limit.start(1000, false)
  exchange.fail('reset')
  expect(take()).toEqual(['abandoned', 'destroy', event])
  expect([rig.limit, exchange.request.open, exchange.connection]).toEqual([undefined, false, null])
})

test('no connection can be opened', () => {
  const { exchange, take } = setup()
  exchange.failUnsent({ code: 'connection-refused', detail: 'no' })
  expect(take()).toEqual(['abandoned', 'destroy', 'failed connection-refused: no, unsent'])
})

test('a response that is cut has no other event', () => {
  const { rig, exchange, take, sink } = setup()
  rig.receiveHead('HTTP/1.1 200 OK\r\nContent-Length: 5\r\n\r\n')
  exchange.takeResponse()
  exchange.announceResponse()
  exchange.fail('reset')
  expect(take()).toEqual(['response 200', 'wanted', 'abandoned', 'destroy'])
  expect(sink.aborted).toBe('reset')
})

test('cancel closes the connection, and tells the receiver of the body alone', () => {
  const { rig, exchange, take, sink } = setup()
  rig.receiveHead('HTTP/1.1 200 OK\r\nContent-Length: 5\r\n\r\n')
  exchange.takeResponse()
  exchange.announceResponse()
  exchange.cancel()
  exchange.cancel()
  expect(take()).toEqual(['response 200', 'wanted', 'abandoned', 'destroy'])
  expect(sink.aborted).toBe('cancelled')
  exchange.body.pause()
  exchange.body.resume()
  expect(take()).toEqual([])
})

test.each<[why: 'cancelled' | 'reset', last: string]>([
  ['cancelled', 'destroy'],
  ['reset', 'failed request-incomplete: undefined, maybe processed'],
])('a request whose body ends with %s', (why, last) => {
  const { exchange, transport, take } = setup()
  exchange.request.start(transport, '', BODY_LENGTH, 5)
  exchange.request.abort(why)
  expect(take().at(-1)).toBe(last)
  expect(exchange.request.open).toBe(false)
})

test.each([
  [false, 'failed timeout: undefined, maybe processed'],
  [true, 'failed wait-timeout: no connection was free in time, unsent'],
])('the time limit ends, while the request waits for a connection: %s', (awaitsRoom, event) => {
  const { rig, exchange, take } = setup({ awaitsRoom })
  expect(exchange.awaitsRoom).toBe(awaitsRoom)
  exchange.limit.start(1000, false)
  rig.limit!.timer.fire()
  expect(take()).toEqual(['abandoned', 'destroy', event])
  expect(exchange.awaitsRoom).toBe(false)
})

test('the limit of a patient request begins again when it is sent', () => {
  const { rig, exchange, transport } = setup()
  exchange.request.start(transport, '', BODY_LENGTH, 0)
  exchange.limit.start(1000, true)
  rig.limit = undefined
  exchange.request.end()
  expect(rig.limit).toMatchObject({ ms: 1000 })
})

test('the connection reads as the receiver of the body permits', () => {
  const { rig, exchange, take, sink } = setup()
  rig.receiveHead('HTTP/1.1 200 OK\r\nContent-Length: 5\r\n\r\n')
  exchange.takeResponse()
  exchange.announceResponse()
  sink.source?.pause()
  sink.source?.resume()
  expect(take()).toEqual(['response 200', 'wanted', 'held', 'wanted'])
})

test('a tunnel relays both ways, and ends them one by one', () => {
  const { rig, exchange, transport, take, sink } = setup()
  exchange.limit.start(1000, false)
  rig.receiveHead('HTTP/1.1 101 Switching Protocols\r\nConnection: upgrade\r\nUpgrade: x\r\n\r\n')
  exchange.upgraded(transport)
  expect([rig.limit, exchange.reading, take()]).toEqual([undefined, true, ['upgraded x']])
  exchange.body.pipe(sink)
  expect([exchange.body.kind, exchange.body.length]).toEqual([BODY_CLOSE, -1])
  exchange.body.feed(Buffer.from('down'), 0, 4)
  exchange.request.bytes(Buffer.from('up'), 0, 2)
  expect([sink.text, transport.text]).toEqual(['down', 'REQUESTup'])
  take()
  exchange.request.end()
  expect(take()).toEqual(['end output'])
})

test('a request has 100 interim responses at most', () => {
  const { rig, exchange, take } = setup()
  rig.receiveHead('HTTP/1.1 103 Early Hints\r\n\r\n')
  for (let i = 0; i < 100; i++) exchange.informed()
  expect(take()).toEqual(Array(100).fill('informed 103'))
  exchange.informed()
  expect(take()).toEqual(['abandoned', 'destroy', 'failed protocol-error: undefined, maybe processed'])
})

test.each([
  ['GET', 'REQUEST'],
  ['POST', ''],
])('a request of %s is sent again as %j, once', (method, text) => {
  const { exchange, take } = setup({ method })
  expect(exchange.replayText).toBe(text)
  exchange.noteReplay()
  expect([exchange.replayText, take()]).toEqual(['', ['replayed stale-connection']])
})

test('a request is not sent again when its response has begun, or it is over', () => {
  const { rig, exchange, begin } = setup()
  rig.receiveHead('HTTP/1.1 200 OK\r\nContent-Length: 5\r\n\r\n')
  exchange.takeResponse()
  expect([exchange.replayText, exchange.request.whole]).toEqual(['', ''])
  begin()
  exchange.fail('reset')
  expect(exchange.replayText).toBe('')
})

test('an exchange is released once, after its end', () => {
  const { exchange, take, begin } = setup()
  expect(exchange.release()).toBe(false)
  expect(exchange.context).toBe('context')
  exchange.finish()
  expect([exchange.release(), exchange.release()]).toEqual([true, true])
  expect([take(), exchange.context]).toEqual([['abandoned', 'recycle'], undefined])
  begin()
  exchange.finish()
  exchange.release()
  expect(take()).toEqual(['abandoned', 'recycle'])
})

test('nothing of an exchange is left for the next one', () => {
  const { rig, exchange, transport, take, begin } = setup({ method: 'HEAD' })
  for (let i = 0; i < 60; i++) exchange.informed()
  exchange.noteReplay()
  rig.receiveHead('HTTP/1.1 101 Switching Protocols\r\nConnection: upgrade\r\nUpgrade: x\r\n\r\n')
  exchange.upgraded(transport)
  exchange.cancel()
  exchange.release()
  begin('GET')
  take()
  expect([exchange.head.status, exchange.context, exchange.replayText]).toEqual([0, 'context', 'REQUEST'])
  for (let i = 0; i < 60; i++) exchange.informed()
  exchange.request.start(transport, '', BODY_LENGTH, 0)
  exchange.request.end()
  expect(new Set(take())).toEqual(new Set(['informed 0']))
  rig.receiveHead('HTTP/1.1 200 OK\r\nContent-Length: 5\r\n\r\n')
  exchange.takeResponse()
  expect(exchange.body.kind).toBe(BODY_LENGTH)
})
