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
  PING,
  RST_STREAM,
  SETTINGS,
  uint32,
} from '#net/testing/frames.ts'
import { drip, noteTaken, POURED_BYTES, pour } from './pour.ts'

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

/** Length of the data between two pings. */
const PIECE_BYTES = 4 * 16_384
const PIECES = Math.ceil(POURED_BYTES / PIECE_BYTES)
/** Pieces that may be on their way. */
const AHEAD = 16

/**
 * Sends data, whatever the window, until the call is cancelled. A ping follows each piece: the gateway has read the pieces whose pings it
 * has answered.
 */
function pourData(peer: FramePeer, stream: number): void {
  const { socket } = peer
  const data = frame(DATA, 0, stream, Buffer.alloc(PIECE_BYTES / 4, 'x'))
  const ping = frame(PING, 0, 0, Buffer.concat([uint32(stream), uint32(0)]))
  const piece = Buffer.concat([data, data, data, data, ping])
  let sent = 0
  const more = () => {
    const isOver = socket.destroyed || peer.of(RST_STREAM, stream).length > 0
    const read = peer.of(PING, 0).filter(({ payload }) => payload.readUInt32BE() === stream).length
    if (isOver || read === PIECES) {
      socket.off('data', more)
      if (!isOver) noteTaken(socket)
      return
    }
    for (; sent < PIECES && sent - read < AHEAD; sent++) socket.write(piece)
  }
  socket.on('data', more)
  more()
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
  'sends-too-much': (peer, stream) => {
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
