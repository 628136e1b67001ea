import { createServer, type IncomingMessage, type Server, type ServerResponse } from 'node:http'

/** A small server that stands behind the gateway. Listens on 127.0.0.1 only. */
export interface Upstream {
  readonly name: string
  readonly port: number
  /** `http://127.0.0.1:<port>`, without a trailing slash. */
  readonly url: string
  /** Stops listening and drops the connections that are still open. */
  close(): Promise<void>
}

export interface UpstreamOptions {
  /** 0 takes any free port. */
  readonly port: number
  /** Told in every answer, so that one can see who served. Each kind of server has a usual name. */
  readonly name?: string
}

/** Answers one request. `gone` is aborted when the client has disconnected or the answer is complete. */
export type Answer = (request: IncomingMessage, response: ServerResponse, gone: AbortSignal) => Promise<void>

/** The gateway keeps idle connections for 90 s. A server that closes one just when it is used again loses the request. */
const LONGER_THAN_GATEWAYS_KEEP_MS = 120_000

/**
 * Starts a server on 127.0.0.1. `build` makes the answering function once the address is known,
 * because some answers (an agent card) name it.
 *
 * @throws Error with one line that names the port when it is in use.
 */
export async function listen(options: Required<UpstreamOptions>, build: (url: string) => Answer): Promise<Upstream> {
  const server = createServer()
  // Streams of the MCP SDK name `Connection` themselves, which keeps Node from telling how long it keeps an idle connection.
  server.keepAliveTimeout = LONGER_THAN_GATEWAYS_KEEP_MS
  const bound = Promise.withResolvers<void>()
  server.once('listening', bound.resolve).once('error', bound.reject)
  server.listen(options.port, '127.0.0.1')
  await bound.promise.catch((cause) => {
    throw new Error(explainListenError(cause, options), { cause })
  })

  const address = server.address()
  if (address === null || typeof address === 'string') throw new Error('a TCP server has an address and a port')
  const url = `http://127.0.0.1:${address.port}`
  const answer = build(url)
  server.on('request', (request, response) => serve(answer, request, response))
  return { name: options.name, port: address.port, url, close: () => close(server) }
}

function explainListenError(cause: NodeJS.ErrnoException, { name, port }: Required<UpstreamOptions>): string {
  if (cause.code === 'EADDRINUSE') return `port ${port} is in use; the example server ${name} needs it`
  return `the example server ${name} cannot listen on port ${port}: ${cause.message}`
}

async function serve(answer: Answer, request: IncomingMessage, response: ServerResponse): Promise<void> {
  const gone = new AbortController()
  response.once('close', () => gone.abort())
  try {
    await answer(request, response, gone.signal)
  } catch (error) {
    // A client that disconnects breaks reads, waits and writes; there is no client left to respond to.
    if (gone.signal.aborted || request.destroyed) return
    console.error('an example server failed', error)
    if (!response.headersSent) response.writeHead(500)
    response.end()
  }
}

function close(server: Server): Promise<void> {
  const closed = Promise.withResolvers<void>()
  server.close(() => closed.resolve())
  server.closeAllConnections()
  return closed.promise
}
