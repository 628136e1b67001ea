import { frameMessage } from '#net/grpc/message-frame.ts'
import type { FramePeer } from '#net/testing/frame-server.ts'
import {
  CONTINUATION,
  DATA,
  END_HEADERS,
  END_STREAM,
  type Field,
  frame,
  HEADERS,
  headerBlock,
  RST_STREAM,
  SETTINGS,
} from '#net/testing/frames.ts'
import { drip, pour } from './pour.ts'

/**
 * What a gRPC server does with a call instead of answering it.
 * @param yes a framed message that would allow the request, as latin-1 text
 */
export type GrpcFault = (peer: FramePeer, stream: number, yes: string) => void

const HEAD: readonly Field[] = [
  [':status', '200'],
  ['content-type', 'application/grpc'],
]
const OK: readonly Field[] = [['grpc-status', '0']]
const NO_ERROR = 0
const INTERNAL_ERROR = 2
const REFUSED_STREAM = 7
/** SETTINGS_INITIAL_WINDOW_SIZE of 0. */
const SHUT: readonly [number, number] = [4, 0]

/** Sends data until the call is cancelled. */
function pourData(peer: FramePeer, stream: number): void {
  const bytes = frame(DATA, 0, stream, Buffer.alloc(16_384, 'x'))
  pour(peer.socket, bytes, () => peer.of(RST_STREAM, stream).length > 0)
}

/** Bad servers by what they do. None of them gives a complete answer in time. */
export const GRPC_FAULTS: Readonly<Record<string, GrpcFault>> = {
  resets: (peer, stream) => peer.reset(stream, INTERNAL_ERROR),
  'refuses-each-stream': (peer, stream) => peer.reset(stream, REFUSED_STREAM),
  closes: (peer) => peer.socket.destroy(),
  'resets-the-connection': (peer) => void peer.socket.resetAndDestroy(),
  'goes-away': (peer) => peer.goaway(0, NO_ERROR),
  'goes-away-in-mid-stream': (peer, stream) => {
    peer.head(stream, HEAD)
    peer.goaway(stream, INTERNAL_ERROR)
    peer.socket.end()
  },
  stalls: () => {},
  'stalls-after-head': (peer, stream) => peer.head(stream, HEAD),
  'stalls-after-message': (peer, stream, yes) => {
    peer.head(stream, HEAD)
    peer.data(stream, yes)
  },
  'closes-in-mid-stream': (peer, stream, yes) => {
    peer.head(stream, HEAD)
    peer.data(stream, yes)
    peer.socket.destroy()
  },
  'resets-in-mid-stream': (peer, stream, yes) => {
    peer.head(stream, HEAD)
    peer.data(stream, yes)
    peer.reset(stream, INTERNAL_ERROR)
  },
  late: (peer, stream, yes) => {
    setTimeout(() => {
      peer.head(stream, HEAD)
      peer.data(stream, yes)
      peer.head(stream, OK, END_STREAM)
    }, 900).unref()
  },
  twice: (peer, stream, yes) => {
    peer.head(stream, HEAD)
    peer.data(stream, yes + yes)
    peer.head(stream, OK, END_STREAM)
  },
  garbage: (peer, stream) => {
    peer.head(stream, HEAD)
    peer.data(stream, Buffer.from(frameMessage(Buffer.from([0xff, 0xff, 0xff]))).toString('latin1'))
    peer.head(stream, OK, END_STREAM)
  },
  'no-http2': (peer) => peer.socket.write('what?\n'.repeat(10)),
  'announces-too-much': (peer, stream) => {
    peer.head(stream, HEAD)
    peer.data(stream, `\0\u0006\0\0\0${'x'.repeat(16_000)}`)
  },
  'sends-100-mb': (peer, stream) => {
    peer.head(stream, HEAD)
    // A message just below the limit, and then more.
    peer.data(stream, '\0\0\u003f\u00ff\u00ff')
    pourData(peer, stream)
  },
  'sends-a-page': (peer, stream) => {
    peer.head(stream, [
      [':status', '200'],
      ['content-type', 'text/html'],
    ])
    pourData(peer, stream)
  },
  'no-trailers': (peer, stream, yes) => {
    peer.head(stream, HEAD)
    peer.data(stream, yes, END_STREAM)
  },
  'http-503': (peer, stream) => peer.head(stream, [[':status', '503']], END_STREAM),
  'endless-head': (peer, stream) => {
    peer.send(HEADERS, 0, stream, headerBlock(HEAD))
    pour(peer.socket, frame(CONTINUATION, 0, stream, headerBlock([['x-more', 'y'.repeat(8000)]])))
  },
  'endless-trailers': (peer, stream, yes) => {
    peer.head(stream, HEAD)
    peer.data(stream, yes)
    peer.send(HEADERS, END_STREAM, stream, headerBlock(OK))
    pour(peer.socket, frame(CONTINUATION, 0, stream, headerBlock([['x-more', 'y'.repeat(8000)]])))
  },
  'endless-interim-heads': (peer, stream) => {
    pour(peer.socket, frame(HEADERS, END_HEADERS, stream, headerBlock([[':status', '103']])))
  },
  'endless-settings': (peer) => pour(peer.socket, frame(SETTINGS, 0, 0)),
  'drips-its-head': (peer, stream) => {
    const head = frame(HEADERS, END_HEADERS, stream, headerBlock([...HEAD, ['x-more', 'y'.repeat(1000)]]))
    drip(peer.socket, head.toString('latin1'))
  },
  'drips-empty-frames': (peer, stream) => {
    peer.head(stream, HEAD)
    drip(peer.socket, frame(DATA, 0, stream).toString('latin1').repeat(100))
  },
}

/** Its window never opens, so the request cannot be sent. */
export const SHUT_WINDOW = (peer: FramePeer) => peer.settings(SHUT)
