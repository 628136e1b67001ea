import type { IncomingMessage, ServerResponse } from 'node:http'
import { hostPort } from '#base/host-port.ts'
import { type ListenAddress, listen, listeningDescriptor } from '#base/listen.ts'
import { type Answer, type StreamedAnswer, textAnswer } from './answer.ts'
import { SERVER_FIELD } from './server-field.ts'

/** `import` would read each name that the module exports, and so load the client of `fetch`, which nothing here needs. */
const { createServer } = process.getBuiltinModule('node:http')

export interface Endpoint {
  readonly method: 'GET' | 'POST'
  /** POST, for an endpoint whose method is GET: changes what it shows. */
  change?(query: URLSearchParams): Answer
  /** @param query parameters of the request target */
  answer(query: URLSearchParams, headers: IncomingMessage['headers']): Answer | StreamedAnswer | Promise<Answer>
}

export interface SmallServerOptions extends ListenAddress {
  /** By path. GET includes HEAD. */
  readonly endpoints: Readonly<Record<string, Endpoint>>
  /** Refuses a request before its path is read. */
  readonly refuse?: (headers: IncomingMessage['headers'], address: string | undefined) => Answer | undefined
  /** Refuses a POST: it changes something. */
  readonly refuseChange?: (headers: IncomingMessage['headers']) => Answer | undefined
  /** Called when an endpoint throws; the client gets only status 500. */
  readonly reportBug: (error: unknown) => void
}

export interface RunningServer {
  readonly port: number
  /** `http://127.0.0.1:15000`, `http://[::1]:15000` */
  readonly url: string
  /** Of its socket, while it is open. */
  readonly descriptor: number
  /** Stops accepting; resolves when the requests in flight are complete. */
  close(): Promise<void>
}

/** Disable MIME sniffing, caching and framing. */
const FIXED_HEADERS = {
  'cache-control': 'no-store',
  'x-content-type-options': 'nosniff',
  'x-frame-options': 'DENY',
}

/**
 * Starts an HTTP server on the main thread for a few paths. Proxy traffic never uses it.
 * @throws PortInUse
 */
export async function startSmallServer(options: SmallServerOptions): Promise<RunningServer> {
  const streams = new Set<ServerResponse>()
  const server = createServer((request, response) => {
    request.resume()
    answerRequest(options, request).then(
      (answer) => {
        response.setHeader(SERVER_FIELD, options.purpose)
        return 'stream' in answer ? stream(streams, response, answer) : write(response, answer)
      },
      (error: unknown) => {
        options.reportBug(error)
        write(response, textAnswer(500, 'internal error'))
      },
    )
  })
  const port = await listen(server, options)
  const url = `http://${hostPort(options.host, port)}`
  const close = () => {
    for (const response of streams) response.end()
    return new Promise<void>((resolve) => server.close(() => resolve()))
  }
  return { port, url, descriptor: listeningDescriptor(server), close }
}

async function answerRequest(
  options: SmallServerOptions,
  { headers, method, url, socket }: IncomingMessage,
): Promise<Answer | StreamedAnswer> {
  const refused = options.refuse?.(headers, socket.remoteAddress)
  if (refused !== undefined) return refused
  const { path, query } = splitTarget(url ?? '')
  const endpoint = Object.hasOwn(options.endpoints, path) ? options.endpoints[path] : undefined
  if (endpoint === undefined) return textAnswer(404, 'not found')
  const reads = endpoint.method === 'GET' ? ['GET', 'HEAD'] : []
  const change = endpoint.method === 'POST' ? endpoint.answer : endpoint.change
  if (reads.includes(method ?? '')) return endpoint.answer(query, headers)
  if (method === 'POST' && change !== undefined) return options.refuseChange?.(headers) ?? change(query, headers)
  const allowed = change === undefined ? reads : [...reads, 'POST']
  return textAnswer(405, 'method not allowed', { allow: allowed.join(', ') })
}

function splitTarget(target: string): { path: string; query: URLSearchParams } {
  const mark = target.indexOf('?')
  if (mark < 0) return { path: target, query: new URLSearchParams() }
  return { path: target.slice(0, mark), query: new URLSearchParams(target.slice(mark + 1)) }
}

/** Node omits the body for HEAD. */
function write(response: ServerResponse, { status, contentType, body, headers }: Answer): void {
  response.writeHead(status, {
    ...FIXED_HEADERS,
    'content-type': contentType,
    'content-length': Buffer.byteLength(body),
    ...headers,
  })
  response.end(body)
}

/** Streams of one server; each costs work for every decision. */
const MAX_STREAMS = 16

/** HEAD gets the head alone. */
function stream(streams: Set<ServerResponse>, response: ServerResponse, answer: StreamedAnswer): void {
  if (streams.size >= MAX_STREAMS) return write(response, textAnswer(503, `${MAX_STREAMS} streams are open already`))
  response.writeHead(200, { ...FIXED_HEADERS, 'content-type': answer.contentType })
  if (response.req.method === 'HEAD') return void response.end()
  const end = answer.stream({
    get unsentBytes() {
      return response.writableLength
    },
    write: (text) => void response.write(text),
    onTaken: (run) => void response.on('drain', run),
  })
  streams.add(response)
  response.on('close', () => {
    streams.delete(response)
    end()
  })
}
