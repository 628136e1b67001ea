import { createServer } from 'node:http'
import { createServer as createHttp2Server, type ServerHttp2Stream } from 'node:http2'
import type { AddressInfo, Server } from 'node:net'
import type { Writable } from 'node:stream'

/** A provider that sends events as fast as the other side takes them, or at a rate. */
export interface FloodingProvider extends AsyncDisposable {
  readonly ports: { readonly http1: number; readonly http2: number }
  /** Bytes of bodies that the system has taken from it, for all streams that are open. */
  readonly taken: number
  readonly open: number
}

export interface Flood {
  /** Sent once, before the events. */
  readonly begin?: string
  /** The events come after this. */
  readonly after?: Promise<void>
  readonly event: string
  readonly headers?: Readonly<Record<string, string>>
  /** The stream ends after so many bytes. */
  readonly maxBytes: number
  /** Unset: as fast as it can. */
  readonly bytesPerSecond?: number
}

const PIECE_BYTES = 16 * 1024
const TICK_MS = 50

/** @param flood what it sends, by the body of the request */
export async function startFloodingProvider(flood: (request: string) => Flood): Promise<FloodingProvider> {
  const streams = new Map<Writable, number>()
  const pour = (out: Writable, { begin = '', after, event, maxBytes, bytesPerSecond }: Flood) => {
    const piece = Buffer.from(event.repeat(Math.ceil(PIECE_BYTES / event.length)))
    const pauseMs = bytesPerSecond === undefined ? 0 : Math.max(TICK_MS, (piece.length / bytesPerSecond) * 1000)
    let sent = 0
    streams.set(out, 0)
    if (begin !== '') out.write(begin)
    out.on('error', () => {})
    out.on('close', () => streams.delete(out))
    const more = () => {
      if (out.destroyed) return
      if (sent >= maxBytes) return void out.end('data: [DONE]\n\n')
      sent += piece.length
      // The next piece when the system has taken this one, so that nothing that waits in this process counts.
      out.write(piece, (error) => {
        if (error != null || out.destroyed) return
        streams.set(out, sent)
        setTimeout(more, pauseMs).unref()
      })
    }
    if (after === undefined) more()
    else void after.then(more)
  }
  const http1 = createServer(async (incoming, response) => {
    const sent = flood(await textOf(incoming))
    response.writeHead(200, { 'content-type': 'text/event-stream', ...sent.headers })
    pour(response, sent)
  })
  const http2 = createHttp2Server()
  http2.on('stream', async (stream: ServerHttp2Stream) => {
    stream.on('error', () => {})
    const sent = flood(await textOf(stream))
    if (stream.destroyed) return
    stream.respond({ ':status': 200, 'content-type': 'text/event-stream', ...sent.headers })
    pour(stream, sent)
  })
  const sessions = new Set<{ destroy(): void }>()
  http2.on('session', (session) => {
    sessions.add(session)
    session.on('close', () => sessions.delete(session))
  })
  const ports = { http1: await listen(http1), http2: await listen(http2) }
  return {
    ports,
    get taken() {
      return streams.values().reduce((sum, bytes) => sum + bytes, 0)
    },
    get open() {
      return streams.size
    },
    async [Symbol.asyncDispose]() {
      http1.closeAllConnections()
      for (const session of sessions) session.destroy()
      await Promise.all([http1, http2].map((server) => new Promise((resolve) => void server.close(resolve))))
    },
  }
}

async function textOf(incoming: AsyncIterable<Buffer>): Promise<string> {
  const pieces: Buffer[] = []
  for await (const piece of incoming) pieces.push(piece)
  return Buffer.concat(pieces).toString()
}

async function listen(server: Server): Promise<number> {
  await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve))
  return (server.address() as AddressInfo).port
}
