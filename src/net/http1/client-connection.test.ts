import { expect, test } from 'vitest'
import type { NameUse } from '../connect/names.ts'
import { BODY_LENGTH, BODY_NONE } from '../stream.ts'
import { ExchangeRig } from '../testing/exchange-rig.ts'
import { MemoryTransport } from '../testing/memory-transport.ts'
import { ClientConnection } from './client-connection.ts'

/** A connection that is being opened, and the events of its pool. */
function opening() {
  const events: string[] = []
  const connection = new ClientConnection({
    put: (_, idleMs) => events.push(`put ${idleMs}`),
    gone: () => events.push('gone'),
    replay: (_, text) => events.push(`replay ${text}`),
  })
  const transport = new MemoryTransport()
  transport.owner = connection
  /** Sends a request without a body. */
  const ask = (method = 'GET') => {
    const rig = new ExchangeRig()
    rig.begin(method)
    connection.carry(rig.exchange)
    rig.exchange.request.start(connection.transport, `${method} `, BODY_NONE, -1)
    rig.exchange.request.end()
    return rig
  }
  return { connection, transport, ask, take: () => events.splice(0) }
}

/** An open connection with a request. */
function asked(method?: string) {
  const rig = opening()
  rig.connection.attach(rig.transport)
  return { ...rig, first: rig.ask(method) }
}

const nameUse = (): NameUse => ({ outdated: () => {}, resolve: () => {}, chose: () => {}, release: () => {} })

const OK = 'HTTP/1.1 200 OK\r\nContent-Length: 2\r\n\r\nok'

test('what is written while a connection is opened is sent when it is open', () => {
  const { connection, transport, ask } = opening()
  const { exchange } = ask('POST')
  exchange.request.start(connection.transport, 'HEAD ', BODY_LENGTH, 4)
  exchange.request.bytes(Buffer.from('bo'), 0, 2)
  expect([connection.connected, connection.usable, exchange.request.backed]).toEqual([false, true, true])
  connection.attach(transport)
  exchange.request.bytes(Buffer.from('dy'), 0, 2)
  expect([connection.connected, connection.transport === transport]).toEqual([true, true])
  expect(transport.text).toBe('POST HEAD body')
})

test('a connection that could not be opened fails its request unsent', () => {
  const { connection, ask, take } = opening()
  const { events } = ask()
  connection.dialFailed({ code: 'connection-refused', detail: 'no' })
  expect([events, take()]).toEqual([['failed connection-refused: no, unsent'], ['gone']])
  const unused = opening()
  unused.connection.dialFailed({ code: 'connection-refused', detail: 'no' })
  expect(unused.take()).toEqual(['gone'])
})

test('a connection that opens after its request was cancelled is closed', () => {
  const { connection, transport, ask, take } = opening()
  const { exchange } = ask()
  exchange.cancel()
  connection.attach(transport)
  expect([take(), transport.destroyed, transport.text]).toEqual([['gone'], true, ''])
})

test('a response, and the next one on the same connection', () => {
  const { transport, ask, first, take } = asked()
  transport.receive(OK)
  expect([first.events, first.sink.text, first.sink.ended]).toEqual([['response 200'], 'ok', true])
  expect(take()).toEqual(['put Infinity'])
  const second = ask('HEAD')
  transport.receive('HTTP/1.1 404 Not Found\r\nContent-Length: 2\r\n\r\n')
  expect([second.events, second.sink.ended, take()]).toEqual([['response 404'], true, ['put Infinity']])
  expect(transport.text).toBe('GET HEAD ')
})

test('a connection is idle before the receiver gets the end of the body', () => {
  const { transport, first, take } = asked()
  let atEnd: string[] = []
  first.sink.onEnd = () => {
    atEnd = take()
  }
  transport.receive(OK)
  expect(atEnd).toEqual(['put Infinity'])
})

test.each([
  ['HTTP/1.1 200 OK\r\nTransfer-Encoding: chunked\r\n\r\n2\r\nok\r\n0\r\n\r\n', ['put Infinity']],
  ['HTTP/1.1 103 Early Hints\r\nX: y\r\n\r\nHTTP/1.1 200 OK\r\nContent-Length: 2\r\n\r\nok', ['put Infinity']],
  ['HTTP/1.1 200 OK\r\nKeep-Alive: timeout=5\r\nContent-Length: 2\r\n\r\nok', ['put 4000']],
  ['HTTP/1.1 200 OK\r\nKeep-Alive: timeout=0\r\nContent-Length: 2\r\n\r\nok', ['put -1000']],
  ['HTTP/1.1 200 OK\r\nConnection: close\r\nContent-Length: 2\r\n\r\nok', ['gone']],
  ['HTTP/1.1 200 OK\r\nContent-Length: 2\r\n\r\nok and more', ['gone']],
])('in two parts at every point, and byte by byte: %j', (text, events) => {
  for (let cut = 1; cut < text.length; cut++) {
    const { transport, first, take } = asked()
    transport.receive(text.slice(0, cut))
    transport.receive(text.slice(cut))
    expect([first.sink.text, first.sink.ended]).toEqual(['ok', true])
    // What arrives behind the end is found at once, or on the idle connection.
    expect(take().at(-1)).toBe(events.at(-1))
  }
  const { transport, first, take } = asked()
  for (const byte of text) transport.receive(byte)
  expect([first.sink.text, first.sink.ended, take().at(-1)]).toEqual(['ok', true, events.at(-1)])
})

test.each([
  ['', 'gone'],
  ['HTTP/1.1 103 Early Hints\r\n\r\n', 'gone'],
  ['HTTP/1.1 100 Continue\r\n\r\n', 'put Infinity'],
])('a connection whose server got an expectation and answered %j first: %s', (interim, event) => {
  const { connection, transport, take } = opening()
  connection.attach(transport)
  const rig = new ExchangeRig()
  rig.begin('POST', true)
  connection.carry(rig.exchange)
  rig.exchange.request.start(connection.transport, 'POST ', BODY_LENGTH, 4)
  rig.exchange.request.bytes(Buffer.from('body'), 0, 4)
  rig.exchange.request.end()
  transport.receive(`${interim}${OK}`)
  expect(take()).toEqual([event])
})

test('interim responses do not change the final one', () => {
  const { transport, first } = asked()
  transport.receive('HTTP/1.1 103 Early Hints\r\nX: 1\r\n\r\nHTTP/1.1 199 X\r\n\r\nHTTP/1.1 200 OK\r\n\r\n')
  expect(first.events).toEqual(['informed 103', 'informed 199', 'response 200'])
  expect(first.exchange.head.fieldCount).toBe(0)
})

test.each([
  ['a head that is malformed', 'HTTP/1.1 20 OK\r\n\r\n'],
  ['a 101 that names no protocol', 'HTTP/1.1 101 Switching Protocols\r\n\r\n'],
])('%s fails the request', (_, text) => {
  const { transport, first, take } = asked()
  transport.receive(`${text}${OK}`)
  expect(first.events).toEqual(['failed protocol-error: undefined, maybe processed'])
  expect([take(), transport.destroyed]).toEqual([['gone'], true])
})

test('chunks that are malformed cut the body', () => {
  const { transport, first, take } = asked()
  transport.receive('HTTP/1.1 200 OK\r\nTransfer-Encoding: chunked\r\n\r\n2\r\nokzz')
  expect([first.sink.text, first.sink.aborted, take()]).toEqual(['ok', 'protocol-error', ['gone']])
})

test('an upgrade relays what follows', () => {
  const { connection, transport, first } = asked()
  transport.receive('HTTP/1.1 101 Switching Protocols\r\nConnection: upgrade\r\nUpgrade: x\r\n\r\nmore')
  expect([first.events, transport.paused]).toEqual([['upgraded x'], true])
  first.exchange.body.pipe(first.sink)
  expect([first.sink.text, transport.paused]).toEqual(['more', false])
  transport.receive('!')
  first.exchange.request.bytes(Buffer.from('up'), 0, 2)
  expect([first.sink.text, transport.text]).toEqual(['more!', 'GET up'])
  connection.endOutput()
  expect(transport.endedByUs).toBe(true)
})

test('a connection that was a tunnel is not used again', () => {
  const { connection, transport, first, take } = asked()
  transport.receive('HTTP/1.1 101 Switching Protocols\r\nConnection: upgrade\r\nUpgrade: x\r\n\r\n')
  first.exchange.body.pipe(first.sink)
  first.exchange.request.end()
  connection.ended()
  expect([first.sink.ended, take()]).toEqual([true, ['gone']])
})

test('unrequested bytes close the connection', () => {
  const { transport, take, ask } = asked()
  transport.receive(OK)
  transport.receive('H')
  expect([take(), transport.destroyed]).toEqual([['put Infinity', 'gone'], true])
  const late = ask()
  transport.owner!.bytes(Buffer.from(OK), 0, OK.length)
  expect(late.events).toEqual([])
})

test('nothing is read while the receiver is backed up', () => {
  const { transport, first, take, ask } = asked()
  first.sink.backed = true
  transport.receive('HTTP/1.1 200 OK\r\nContent-Length: 6\r\n\r\nab')
  expect([first.sink.text, transport.paused]).toEqual(['ab', true])
  // A transport may have read more before it was paused.
  transport.owner!.bytes(Buffer.from('cd'), 0, 2)
  transport.owner!.bytes(Buffer.from('ef'), 0, 2)
  expect([first.sink.text, transport.paused, take()]).toEqual(['ab', true, []])
  first.sink.backed = false
  first.sink.source!.resume()
  expect([first.sink.text, first.sink.ended, transport.paused, take()]).toEqual([
    'abcdef',
    true,
    false,
    ['put Infinity'],
  ])
  const { sink } = ask()
  transport.receive(OK)
  expect([sink.text, sink.ended]).toEqual(['ok', true])
})

test('one byte that was held is read when the receiver has room', () => {
  const { transport, first } = asked()
  first.sink.backed = true
  transport.receive('HTTP/1.1 200 OK\r\nContent-Length: 3\r\n\r\nab')
  transport.owner!.bytes(Buffer.from('c'), 0, 1)
  first.sink.backed = false
  first.sink.source!.resume()
  expect([first.sink.text, first.sink.ended]).toEqual(['abc', true])
})

test('a connection reads on when a receiver that was backed up has room', () => {
  const { transport, first } = asked()
  first.sink.backed = true
  transport.receive('HTTP/1.1 200 OK\r\nContent-Length: 6\r\n\r\nab')
  first.sink.backed = false
  first.sink.source!.resume()
  expect(transport.paused).toBe(false)
})

test('the last bytes of a receiver that is backed up do not stop the connection', () => {
  const { transport, first, take } = asked()
  first.sink.backed = true
  transport.receive(OK)
  expect([first.sink.ended, transport.paused, take()]).toEqual([true, false, ['put Infinity']])
})

test('the transport tells the request that it has room', () => {
  const { connection, transport, first } = asked()
  connection.drained()
  let resumed = 0
  first.exchange.request.start(transport, '', BODY_LENGTH, 4)
  first.exchange.request.source = {
    kind: BODY_LENGTH,
    length: 4,
    pipe: () => {},
    pause: () => {},
    resume: () => resumed++,
  }
  connection.drained()
  expect(resumed).toBe(1)
  first.exchange.cancel()
  connection.drained()
  expect(resumed).toBe(1)
})

test('the end of the connection is the end of a body without a length', () => {
  const { connection, transport, first, take } = asked()
  transport.receive('HTTP/1.1 200 OK\r\n\r\nhello')
  connection.ended()
  expect([first.sink.text, first.sink.ended, take()]).toEqual(['hello', true, ['gone']])
})

test.each([
  ['before the response', '', ['failed protocol-error: undefined, maybe processed'], undefined],
  ['in the head', 'HTTP/1.1 200', ['failed protocol-error: undefined, maybe processed'], undefined],
  ['in the body', OK.slice(0, -1), ['response 200'], 'reset'],
])('the server ends the first connection %s', (_, text, events, aborted) => {
  const { connection, transport, first, take } = asked()
  transport.receive(text)
  connection.ended()
  expect([first.events, first.sink.aborted, take(), transport.destroyed]).toEqual([events, aborted, ['gone'], true])
  connection.closed()
  expect([first.events, take()]).toEqual([events, []])
})

test.each([
  ['closes a reused connection', 'GET', '', ['replayed stale-connection'], ['gone', 'replay GET ']],
  ['closes it under a POST', 'POST', '', ['failed reset: undefined, maybe processed'], ['gone']],
  ['closes it in a response', 'GET', 'H', ['failed reset: undefined, maybe processed'], ['gone']],
])('a server %s', (_, method, text, events, ofPool) => {
  const { connection, transport, ask, take } = asked()
  transport.receive(OK)
  take()
  const second = ask(method)
  for (const byte of text) transport.receive(byte)
  connection.closed()
  expect([second.events, take()]).toEqual([events, ofPool])
})

test('an idle connection that the server closes is gone', () => {
  const { connection, transport, take } = asked()
  transport.receive(OK)
  connection.ended()
  expect(take()).toEqual(['put Infinity', 'gone'])
})

test('a response before the end of its request closes the connection', () => {
  const { transport, first, take } = asked('POST')
  first.exchange.request.start(transport, '', BODY_LENGTH, 4)
  transport.receive(OK)
  expect([first.sink.text, first.sink.ended, take()]).toEqual(['ok', true, ['gone']])
})

test('a receiver that cancels in the middle of the bytes closes the connection', () => {
  const { transport, first, take } = asked()
  first.sink.bytes = () => first.exchange.cancel()
  transport.receive(OK)
  expect([first.sink.ended, take(), transport.destroyed]).toEqual([false, ['gone'], true])
})

test('a connection to an address that is no longer of the name serves its request, and then closes', () => {
  const use = nameUse()
  const { connection, transport, ask, take } = opening()
  connection.attach(transport, use)
  const { sink } = ask()
  use.outdated()
  transport.receive(OK)
  expect([sink.text, sink.ended, take()]).toEqual(['ok', true, ['gone']])
  const idle = nameUse()
  const other = opening()
  other.connection.attach(other.transport, idle)
  idle.outdated()
  expect(other.take()).toEqual(['gone'])
})

test('an idle connection is closed once', () => {
  const { connection, transport, take } = asked()
  transport.receive(OK)
  connection.destroy()
  connection.destroy()
  connection.closed()
  expect([take(), transport.destroyed]).toEqual([['put Infinity', 'gone'], true])
})
