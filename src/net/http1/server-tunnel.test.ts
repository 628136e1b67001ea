import { expect, test } from 'vitest'
import { Head } from '../http/head.ts'
import { BODY_CHUNKED, type ServerStream } from '../stream.ts'
import { FakeUpstream } from '../testing/fake-upstream.ts'
import { GET, POST5, serverRig } from '../testing/server-rig.ts'

const setup = serverRig()

const UPGRADE = GET.replace('\r\n\r\n', '\r\nConnection: Upgrade\r\nUpgrade: x\r\n\r\n')
const SWITCHED = 'HTTP/1.1 101 Switching Protocols\r\nconnection: upgrade\r\nupgrade: x\r\n\r\n'

/** A connection whose client has begun a tunnel. */
function tunnel(request = UPGRADE) {
  const upstream = new FakeUpstream()
  let stream!: ServerStream
  const rig = setup((one) => {
    stream = one
    const head = Head.response(101)
    head.upgrade = 'x'
    one.tunnel(head, upstream)
  })
  rig.transport.receive(request)
  return { ...rig, upstream, stream }
}

test('a tunnel relays both ways, also what follows the request at once', () => {
  const { transport, upstream } = tunnel(`${UPGRADE}early`)
  upstream.send('down')
  transport.receive(', late')
  expect([transport.text, upstream.request.text]).toEqual([`${SWITCHED}down`, 'early, late'])
})

test('the directions of a tunnel end one by one', () => {
  const { transport, upstream, events } = tunnel()
  transport.receiveEnd()
  expect([upstream.request.ended, transport.endedByUs]).toEqual([true, false])
  upstream.send('rest')
  upstream.end()
  expect([transport.text, transport.endedByUs, events]).toEqual([
    `${SWITCHED}rest`,
    true,
    ['request GET /a', 'finished 4'],
  ])
})

test('a tunnel may be silent', () => {
  const { transport, pass, events } = tunnel()
  transport.receive('x')
  for (let i = 0; i < 100; i++) pass(60_000)
  expect([transport.destroyed, events]).toEqual([false, ['request GET /a']])
})

test.each<[what: string, move: (rig: ReturnType<typeof tunnel>) => void]>([
  ['sends', ({ transport }) => transport.receive('x')],
  [
    'is read',
    ({ upstream }) => {
      upstream.request.source!.pause()
      upstream.request.source!.resume()
    },
  ],
])('the client of a tunnel that reads nothing is disconnected, though it %s', (_, move) => {
  const rig = tunnel()
  rig.transport.unsentBytes = 10
  for (let i = 0; i < 30 && !rig.transport.destroyed; i++) {
    move(rig)
    rig.pass(40_000)
  }
  expect([rig.transport.destroyed, rig.events.at(-1)]).toEqual([true, 'aborted timeout'])
})

test('a tunnel that is cut does not look complete', () => {
  const { transport, upstream, events } = tunnel()
  upstream.break('reset')
  expect([transport.wasReset, events.at(-1), upstream.request.aborted]).toEqual([true, 'cut reset', 'reset'])
  const aborted = tunnel()
  aborted.stream.abort()
  expect([aborted.transport.wasReset, aborted.events.at(-1)]).toEqual([true, 'aborted cancelled'])
})

test('a tunnel for a client that is gone is cancelled', () => {
  let stream!: ServerStream
  const { transport } = setup((one) => (stream = one))
  transport.receive(UPGRADE)
  stream.abort()
  const upstream = new FakeUpstream()
  stream.tunnel(Head.response(101), upstream)
  expect([upstream.cancelled, transport.text]).toEqual([true, ''])
})

test('no tunnel without a request for one, or behind a response', () => {
  let stream!: ServerStream
  const { transport } = setup((one) => (stream = one))
  const open = () => stream.tunnel(Head.response(101), new FakeUpstream())
  transport.receive(POST5)
  expect(open).toThrow('did not request an upgrade')
  const other = setup((one) => (stream = one))
  other.transport.receive(UPGRADE)
  stream.respond(Head.response(200), BODY_CHUNKED, -1)
  expect(open).toThrow('did not request an upgrade')
})
