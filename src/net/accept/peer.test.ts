import type net from 'node:net'
import { expect, test } from 'vitest'
import { peerOf } from './peer.ts'

const socket = (remoteAddress: string | undefined, localAddress = '127.0.0.1') =>
  ({ remoteAddress, remotePort: 1, localAddress, localPort: 2 }) as net.Socket

test.each([
  ['10.0.0.1', '10.0.0.1'],
  ['::ffff:10.0.0.1', '10.0.0.1'],
  ['::FFFF:10.0.0.1', '10.0.0.1'],
  ['::1', '::1'],
  ['2001:db8::ffff:10', '2001:db8::ffff:10'],
])('a client at %s is known as %s', (seen, known) => {
  const peer = peerOf(socket(seen, seen))!
  expect([peer.remoteAddress, peer.rawAddress, peer.localAddress]).toEqual([known, known, known])
})

test('a closed connection has no peer', () => {
  expect(peerOf(socket(undefined))).toBe(undefined)
})
