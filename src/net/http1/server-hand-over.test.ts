import type { Socket } from 'node:net'
import { expect, test } from 'vitest'
import type { Peer } from '../peer.ts'
import { GET, OK, serverRig } from '../testing/server-rig.ts'

const setup = serverRig()

const PREFACE = 'PRI * HTTP/2.0\r\n\r\nSM\r\n\r\nsettings'

/** A connection that may switch to HTTP/2, and the bytes that were handed over. */
function http2(peer: Partial<Peer> = {}) {
  const taken: string[] = []
  const rig = setup(undefined, {}, { ...peer, onHttp2: (socket) => taken.push(String(socket)) })
  const detach = (unread: Buffer) => {
    rig.transport.pause()
    return unread.latin1Slice(0, unread.length) as unknown as Socket
  }
  Object.assign(rig.transport, { detach })
  return { ...rig, taken }
}

test('a connection that begins with the HTTP/2 preface is handed over with all received bytes', () => {
  const { transport, taken, events, pass, state } = http2()
  transport.receive(PREFACE)
  for (let i = 0; i < 20; i++) pass(60_000)
  expect([taken, transport.text, transport.destroyed, transport.paused]).toEqual([[PREFACE], '', false, true])
  expect([events, state.closed]).toEqual([[], 0])
})

test('a connection that was handed over is not closed here', () => {
  const { connection, transport } = http2()
  transport.receive(PREFACE)
  connection.abort()
  expect(transport.destroyed).toBe(false)
})

test('in two parts at every point, and byte by byte', () => {
  for (let cut = 1; cut < PREFACE.length; cut++) {
    const { transport, taken } = http2()
    transport.receive(PREFACE.slice(0, cut))
    transport.receive(PREFACE.slice(cut))
    // The first line tells.
    expect(taken).toEqual([cut < 16 ? PREFACE : PREFACE.slice(0, cut)])
  }
  const { transport, taken } = http2()
  for (const byte of PREFACE.slice(0, 16)) transport.receive(byte)
  expect(taken).toEqual([PREFACE.slice(0, 16)])
})

test('an empty line before the preface is ignored', () => {
  const { transport, taken } = http2()
  transport.receive(`\r\n${PREFACE.slice(0, 14)}`)
  transport.receive(PREFACE.slice(14))
  expect(taken).toEqual([PREFACE])
})

test.each<[what: string, peer: Partial<Peer>, text: string, events: string[]]>([
  ['over TLS', { secure: true }, PREFACE, ['refused version-not-supported']],
  ['behind a request', {}, `${GET}${PREFACE}`, ['request GET /a', 'finished 2', 'refused version-not-supported']],
  ['with another target', {}, PREFACE.replace('*', '/'), ['refused version-not-supported']],
])('a preface %s is refused', (_, peer, text, events) => {
  const rig = http2(peer)
  rig.transport.receive(text)
  expect([rig.taken, rig.events]).toEqual([[], events])
})

test('a client of HTTP/1 is served, whatever its method begins with', () => {
  const { transport, taken } = http2()
  transport.receive(GET.replace('GET', 'PRINT'))
  expect([transport.text, taken]).toEqual([OK, []])
})
