import http2, { type IncomingHttpHeaders, type ServerHttp2Stream } from 'node:http2'
import type { AddressInfo } from 'node:net'
import { seeded } from './mutate.ts'

// Started by chaos-http2.ts. A server that responds with the path of the request and text, and resets, disconnects or delays at random.

const random = seeded(Number(process.argv[2]))
const upTo = (most: number) => Math.floor(random() * most)
const { NGHTTP2_CANCEL, NGHTTP2_ENHANCE_YOUR_CALM, NGHTTP2_INTERNAL_ERROR, NGHTTP2_NO_ERROR, NGHTTP2_REFUSED_STREAM } =
  http2.constants
const CODES = [
  NGHTTP2_NO_ERROR,
  NGHTTP2_INTERNAL_ERROR,
  NGHTTP2_REFUSED_STREAM,
  NGHTTP2_CANCEL,
  NGHTTP2_ENHANCE_YOUR_CALM,
]

const server = http2.createServer()
server.on('sessionError', () => {})
server.on('session', (session) => session.on('error', () => {}))
server.on('stream', (stream: ServerHttp2Stream, { ':path': path = '' }: IncomingHttpHeaders) => {
  stream.on('error', () => {})
  if (random() < 0.7) stream.resume()
  if (random() < 0.5) answer(stream, path)
  else setTimeout(answer, upTo(15), stream, path)
})

function answer(stream: ServerHttp2Stream, path: string): void {
  if (stream.destroyed) return
  const body = `${path}|${'x'.repeat(upTo(random() < 0.3 ? 60_000 : 300))}|${path}`
  switch (upTo(10)) {
    case 0:
      return stream.close(CODES[upTo(CODES.length)])
    case 1:
      return void stream.destroy(new Error('given up'))
    case 2:
      if (random() < 0.1) stream.session?.destroy()
      return
    case 3:
      stream.respond({ ':status': 200 })
      stream.write(body)
      // Sometimes with more data to send, sometimes without.
      return void setTimeout(() => stream.destroyed || stream.close(CODES[upTo(CODES.length)]), upTo(20))
    case 4:
      stream.respond({ ':status': 200 })
      stream.write(body.slice(0, body.length / 2))
      return void setTimeout(() => stream.destroyed || stream.end(body.slice(body.length / 2)), upTo(20))
    default:
      stream.respond({ ':status': 200 })
      stream.end(body)
  }
}

server.listen(0, '127.0.0.1', () => process.send?.((server.address() as AddressInfo).port))
process.on('disconnect', () => process.exit(0))
