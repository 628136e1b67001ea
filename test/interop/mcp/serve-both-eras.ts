import { randomUUID } from 'node:crypto'
import {
  createMcpHandler,
  type EventStore,
  isInitializeRequest,
  isLegacyRequest,
  type JSONRPCMessage,
  type McpServer,
  type ServerNotifier,
  WebStandardStreamableHTTPServerTransport,
} from '@modelcontextprotocol/server'
import { answerWith } from '#examples/upstreams/answer-with.ts'
import { listen, type Upstream } from '#examples/upstreams/listen.ts'

export interface BothEras {
  readonly name: string
  /** Called once a session, or once a request where there are no sessions. */
  readonly build: (notify: ServerNotifier) => McpServer
  /** Wraps the handler of requests without session. */
  readonly wrap?: (next: FetchHandler) => FetchHandler
}

type FetchHandler = (request: Request) => Promise<Response>

/** Serves with the official SDK 2.x: with sessions and resumption for clients of the revisions up to 2025-11-25, without for those of 2026-07-28. */
export async function serveBothEras({ name, build, wrap = (next) => next }: BothEras): Promise<Upstream> {
  const sessions = new Map<string, WebStandardStreamableHTTPServerTransport>()
  const sessionless = createMcpHandler(() => build(sessionless.notify), { legacy: 'reject' })

  async function serveSession(request: Request): Promise<Response> {
    const id = request.headers.get('mcp-session-id')
    if (id !== null) return sessions.get(id)?.handleRequest(request) ?? refuse(404, 'Session not found')
    const body: unknown = await request
      .clone()
      .json()
      .catch(() => undefined)
    if (!isInitializeRequest(body)) return refuse(400, 'Mcp-Session-Id header is required')
    const transport = new WebStandardStreamableHTTPServerTransport({
      sessionIdGenerator: randomUUID,
      eventStore: new EventsInMemory(),
      retryInterval: 500,
      onsessioninitialized: (session) => void sessions.set(session, transport),
      onsessionclosed: (session) => void sessions.delete(session),
    })
    await build(sessionless.notify).connect(transport)
    return transport.handleRequest(request)
  }

  const serveSessionless = wrap(sessionless.fetch)
  const upstream = await listen({ name, port: 0 }, () =>
    answerWith(async (request) =>
      (await isLegacyRequest(request)) ? serveSession(request) : serveSessionless(request),
    ),
  )
  const close = async () => {
    await Promise.all([sessionless.close(), ...[...sessions.values()].map((transport) => transport.close())])
    await upstream.close()
  }
  return { ...upstream, close }
}

function refuse(status: number, message: string): Response {
  return Response.json({ jsonrpc: '2.0', id: null, error: { code: -32_000, message } }, { status })
}

/** The events of one session, for clients that resume. */
export class EventsInMemory implements EventStore {
  readonly #events: { readonly stream: string; readonly message: JSONRPCMessage }[] = []

  async storeEvent(stream: string, message: JSONRPCMessage): Promise<string> {
    return String(this.#events.push({ stream, message }) - 1)
  }

  async getStreamIdForEventId(id: string): Promise<string | undefined> {
    return this.#events[Number(id)]?.stream
  }

  async replayEventsAfter(
    last: string,
    { send }: { send: (id: string, message: JSONRPCMessage) => Promise<void> },
  ): Promise<string> {
    const stream = this.#events[Number(last)]?.stream
    if (stream === undefined) throw new Error(`no event ${last}`)
    for (const [id, event] of this.#events.entries()) {
      if (id > Number(last) && event.stream === stream && 'jsonrpc' in event.message)
        await send(String(id), event.message)
    }
    return stream
  }
}
