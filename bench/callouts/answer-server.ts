/**
 * Answers every gRPC call with the same message. HTTP/2 by hand, because the server shares a core with the load: it parses no headers and
 * writes bytes that are prepared.
 */
import net from 'node:net'
import { frameMessage } from '#net/grpc/message-frame.ts'
import {
  ACK,
  DATA,
  END_HEADERS,
  END_STREAM,
  frame,
  HEADERS,
  headerBlock,
  PING,
  PREFACE,
  SETTINGS,
  uint32,
  WINDOW_UPDATE,
} from '#net/testing/frames.ts'
import { PORTS } from '../settings.ts'

const FRAME_HEAD_BYTES = 9
/** The window of a connection is twice as large (RFC 9113, 6.9.2). */
const WINDOW_STEP = 32_768

/** SETTINGS_INITIAL_WINDOW_SIZE: one message may be large. */
const LARGE_STREAMS = Buffer.concat([Buffer.of(0, 4), uint32(2 ** 31 - 1)])

/** An answer to stream 0, and where its frames have the number of the stream. */
function answerOf(message: Uint8Array): { readonly bytes: Buffer; readonly streams: readonly number[] } {
  const head = headerBlock([
    [':status', '200'],
    ['content-type', 'application/grpc'],
  ])
  const frames = [
    frame(HEADERS, END_HEADERS, 0, head),
    frame(DATA, 0, 0, Buffer.from(frameMessage(message))),
    frame(HEADERS, END_HEADERS | END_STREAM, 0, headerBlock([['grpc-status', '0']])),
  ]
  const streams: number[] = []
  let at = 0
  for (const { length } of frames) {
    streams.push(at + 5)
    at += length
  }
  return { bytes: Buffer.concat(frames), streams }
}

function serve(port: number, message: Uint8Array): void {
  const answer = answerOf(message)
  const server = net.createServer((socket) => {
    let rest: Buffer = Buffer.alloc(0)
    let greeted = false
    let received = 0
    socket.setNoDelay(true)
    socket.on('error', () => {})
    socket.write(frame(SETTINGS, 0, 0, LARGE_STREAMS))
    const take = (type: number, flags: number, stream: number, payload: Buffer): void => {
      if (type === SETTINGS && (flags & ACK) === 0) socket.write(frame(SETTINGS, ACK, 0))
      if (type === PING && (flags & ACK) === 0) socket.write(frame(PING, ACK, 0, payload))
      if (type === DATA) received += payload.length
      if ((type !== DATA && type !== HEADERS) || (flags & END_STREAM) === 0) return
      const bytes = Buffer.from(answer.bytes)
      for (const at of answer.streams) bytes.writeUInt32BE(stream, at)
      socket.write(bytes)
    }
    socket.on('data', (bytes: Buffer) => {
      rest = rest.length === 0 ? bytes : Buffer.concat([rest, bytes])
      if (!greeted) {
        if (rest.length < PREFACE.length) return
        greeted = true
        rest = rest.subarray(PREFACE.length)
      }
      socket.cork()
      while (rest.length >= FRAME_HEAD_BYTES) {
        const end = FRAME_HEAD_BYTES + rest.readUIntBE(0, 3)
        if (rest.length < end) break
        take(rest[3]!, rest[4]!, rest.readUInt32BE(5), rest.subarray(FRAME_HEAD_BYTES, end))
        rest = rest.subarray(end)
      }
      if (received >= WINDOW_STEP) {
        socket.write(frame(WINDOW_UPDATE, 0, 0, uint32(received)))
        received = 0
      }
      socket.uncork()
    })
  })
  server.listen(port, '127.0.0.1')
}

/** A `CheckResponse` without anything allows. */
serve(PORTS.authorization, new Uint8Array(0))
/** A `RateLimitResponse` with `overall_code: OK`. */
serve(PORTS.limits, Uint8Array.of(8, 1))
/** An `ExportTraceServiceResponse` without anything accepts all. */
serve(PORTS.collector, new Uint8Array(0))
