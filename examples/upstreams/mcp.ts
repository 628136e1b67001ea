import { parseArgs } from 'node:util'
import {
  createMcpHandler,
  isInitializeRequest,
  isLegacyRequest,
  type McpServer,
  WebStandardStreamableHTTPServerTransport,
} from '@modelcontextprotocol/server'
import { answerWith } from './answer-with.ts'
import { listen, type Upstream, type UpstreamOptions } from './listen.ts'
import { notesServer } from './notes-server.ts'
import { runAlone } from './run-alone.ts'
import { weatherServer } from './weather-server.ts'

/** Starts the MCP server `weather` (streamable HTTP at `/mcp`, tools `forecast` and `alerts`). */
export function startWeather({ port, name = 'weather' }: UpstreamOptions): Promise<Upstream> {
  return startMcp({ port, name }, weatherServer)
}

/** Starts the MCP server `notes` (streamable HTTP at `/mcp`, tools `add` and `search`). */
export function startNotes({ port, name = 'notes' }: UpstreamOptions): Promise<Upstream> {
  const notes = ['the gateway listens on port 8080']
  return startMcp({ port, name }, () => notesServer(notes))
}

/**
 * Serves an MCP server made with the official SDK at `/mcp`: with sessions for clients of the revisions up to 2025-11-25,
 * without for those of 2026-07-28. `build` is called once a session, or once a request where there are no sessions.
 */
async function startMcp(options: Required<UpstreamOptions>, build: () => McpServer): Promise<Upstream> {
  const sessions = new Sessions(build)
  const sessionless = createMcpHandler(build, { legacy: 'reject' })

  const upstream = await listen(options, () =>
    answerWith(async (request) => {
      if (new URL(request.url).pathname !== '/mcp') return new Response('not found\n', { status: 404 })
      const handler = (await isLegacyRequest(request)) ? sessions : sessionless
      return handler.fetch(request)
    }),
  )
  return {
    ...upstream,
    close: async () => {
      await Promise.all([sessions.close(), sessionless.close()])
      await upstream.close()
    },
  }
}

/** The sessions of one server, each with a transport of its own, by session id. */
class Sessions {
  readonly #build: () => McpServer
  readonly #transports = new Map<string, WebStandardStreamableHTTPServerTransport>()

  constructor(build: () => McpServer) {
    this.#build = build
  }

  async fetch(request: Request): Promise<Response> {
    const id = request.headers.get('mcp-session-id')
    if (id !== null) {
      const known = this.#transports.get(id)
      return known?.handleRequest(request) ?? refuse(404, 'session not found')
    }
    const body = await request
      .clone()
      .json()
      .catch(() => undefined)
    if (!isInitializeRequest(body)) return refuse(400, 'the header mcp-session-id is required')
    return this.#open(request)
  }

  async close(): Promise<void> {
    await Promise.all([...this.#transports.values()].map((transport) => transport.close()))
    this.#transports.clear()
  }

  async #open(request: Request): Promise<Response> {
    const transport = new WebStandardStreamableHTTPServerTransport({
      sessionIdGenerator: () => crypto.randomUUID(),
      onsessioninitialized: (id) => void this.#transports.set(id, transport),
      onsessionclosed: (id) => void this.#transports.delete(id),
    })
    await this.#build().connect(transport)
    return transport.handleRequest(request)
  }
}

function refuse(status: number, message: string): Response {
  return Response.json({ jsonrpc: '2.0', id: null, error: { code: -32_000, message } }, { status })
}

if (import.meta.main) {
  const { values } = parseArgs({ options: { name: { type: 'string' } }, strict: false })
  if (values.name === 'notes') await runAlone(startNotes, { port: 9122, name: 'notes' })
  else await runAlone(startWeather, { port: 9121, name: 'weather' })
}
