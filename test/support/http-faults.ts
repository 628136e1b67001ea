import type { Accepted } from '#net/testing/raw-peers.ts'
import { drip, POURED_BYTES, pour } from './pour.ts'

/** What an HTTP server does with a request instead of answering it. */
export type HttpFault = (peer: Accepted) => void

const TEN = 'HTTP/1.1 200 OK\r\ncontent-length: 10\r\n\r\n'

/** Bad servers by what they do. None of them gives a complete answer in time. */
export const HTTP_FAULTS: Readonly<Record<string, HttpFault>> = {
  resets: (peer) => void peer.socket.resetAndDestroy(),
  closes: (peer) => peer.close(),
  stalls: () => {},
  'stalls-after-head': (peer) => peer.send(TEN),
  'closes-mid-body': (peer) => {
    peer.send(`${TEN}half`)
    peer.socket.end()
  },
  'resets-mid-body': (peer) => {
    peer.send(`${TEN}half`)
    setImmediate(() => peer.socket.resetAndDestroy())
  },
  late: (peer) => void setTimeout(() => peer.send('HTTP/1.1 200 OK\r\ncontent-length: 0\r\n\r\n'), 900).unref(),
  garbage: (peer) => peer.send('what?\r\n\r\n'),
  'two-lengths': (peer) => peer.send('HTTP/1.1 200 OK\r\ncontent-length: 0\r\ncontent-length: 5\r\n\r\n'),
  'garbage-chunks': (peer) => peer.send('HTTP/1.1 200 OK\r\ntransfer-encoding: chunked\r\n\r\nwhat?\r\n'),
  switches: (peer) => peer.send('HTTP/1.1 101 Switching Protocols\r\nupgrade: x\r\nconnection: upgrade\r\n\r\n'),
  'sends-too-much': (peer) => {
    peer.send(`HTTP/1.1 200 OK\r\ncontent-length: ${POURED_BYTES}\r\n\r\n`)
    pour(peer.socket, Buffer.alloc(65_536, 'x'))
  },
  'endless-chunks': (peer) => {
    peer.send('HTTP/1.1 200 OK\r\ntransfer-encoding: chunked\r\n\r\n')
    pour(peer.socket, Buffer.from('8\r\nxxxxxxxx\r\n'))
  },
  'endless-head': (peer) => {
    peer.send('HTTP/1.1 200 OK\r\n')
    pour(peer.socket, Buffer.from(`x-more: ${'y'.repeat(1000)}\r\n`.repeat(10)))
  },
  'endless-line': (peer) => pour(peer.socket, Buffer.alloc(65_536, 'H')),
  'endless-trailers': (peer) => {
    peer.send('HTTP/1.1 200 OK\r\ntransfer-encoding: chunked\r\n\r\n0\r\n')
    pour(peer.socket, Buffer.from(`x-more: ${'y'.repeat(1000)}\r\n`.repeat(10)))
  },
  'endless-interim-heads': (peer) => pour(peer.socket, Buffer.from('HTTP/1.1 103 Early Hints\r\n\r\n'.repeat(1000))),
  'drips-its-head': (peer) => drip(peer.socket, `HTTP/1.1 200 OK\r\nx-more: ${'y'.repeat(1000)}`),
  'drips-its-body': (peer) => {
    peer.send('HTTP/1.1 200 OK\r\ncontent-length: 1000\r\n\r\n')
    drip(peer.socket, 'y'.repeat(999))
  },
}
