import { randomUUID } from 'node:crypto'
import { setTimeout as wait } from 'node:timers/promises'
import { Server } from '@modelcontextprotocol/sdk/server/index.js'
import { SSEServerTransport } from '@modelcontextprotocol/sdk/server/sse.js'
import { type EventStore, StreamableHTTPServerTransport } from '@modelcontextprotocol/sdk/server/streamableHttp.js'
import type { RequestHandlerExtra } from '@modelcontextprotocol/sdk/shared/protocol.js'
import type { Transport } from '@modelcontextprotocol/sdk/shared/transport.js'
import {
  CallToolRequestSchema,
  CreateMessageResultSchema,
  ElicitResultSchema,
  GetPromptRequestSchema,
  ListPromptsRequestSchema,
  ListResourcesRequestSchema,
  ListToolsRequestSchema,
  ReadResourceRequestSchema,
  type ServerNotification,
  type ServerRequest,
} from '@modelcontextprotocol/sdk/types.js'
import { listen, type Upstream } from '#examples/upstreams/listen.ts'
import { says, text } from '../../everything/samples.ts'
import { EventsInMemory } from '../../serve-both-eras.ts'

type Extra = RequestHandlerExtra<ServerRequest, ServerNotification>

interface Numbers {
  readonly a: number
  readonly b: number
}

/** Starts the server of the pairs, made with the SDK for TypeScript 1.x: streamable HTTP at `/mcp`, HTTP with SSE at `/sse`. */
export async function startTypescript1(): Promise<Upstream> {
  const sessions = new Map<string, StreamableHTTPServerTransport>()
  const streams = new Map<string, SSEServerTransport>()
  const counter = { cancellations: 0 }

  async function openSession(): Promise<StreamableHTTPServerTransport> {
    const transport = new StreamableHTTPServerTransport({
      sessionIdGenerator: randomUUID,
      eventStore: new EventsInMemory() as EventStore,
      retryInterval: 100,
      onsessioninitialized: (id) => void sessions.set(id, transport),
      onsessionclosed: (id) => void sessions.delete(id),
    })
    // The transport of the SDK does not satisfy its own interface under exactOptionalPropertyTypes.
    await build(counter).connect(transport as Transport)
    return transport
  }

  const upstream = await listen({ name: 'typescript-1', port: 0 }, () => async (request, response) => {
    const { pathname, searchParams } = new URL(request.url ?? '/', 'http://127.0.0.1')
    if (pathname === '/sse') {
      const transport = new SSEServerTransport('/messages', response)
      streams.set(transport.sessionId, transport)
      await build(counter).connect(transport)
      return
    }
    if (pathname === '/messages') {
      const stream = streams.get(searchParams.get('sessionId') ?? '')
      if (stream === undefined) return void response.writeHead(404).end()
      return stream.handlePostMessage(request, response)
    }
    const id = request.headers['mcp-session-id']
    const session = id === undefined ? await openSession() : sessions.get(String(id))
    if (session === undefined) return void response.writeHead(404).end()
    return session.handleRequest(request, response)
  })
  const close = async () => {
    await Promise.all([...sessions.values(), ...streams.values()].map((transport) => transport.close()))
    await upstream.close()
  }
  return { ...upstream, close }
}

function build(counter: { cancellations: number }): Server {
  const tools: Readonly<Record<string, (extra: Extra, values: Numbers) => Promise<string>>> = {
    add: async (_, { a, b }) => String(a + b),
    async ask({ sendRequest }) {
      const requestedSchema = { type: 'object', properties: { name: { type: 'string' } }, required: ['name'] } as const
      const params = { message: 'What is your name?', requestedSchema: { ...requestedSchema, required: ['name'] } }
      const { content } = await sendRequest({ method: 'elicitation/create', params }, ElicitResultSchema)
      return `hello ${content?.name}`
    },
    async sample({ sendRequest }) {
      const messages = [{ role: 'user', content: text('Say something') } as const]
      const params = { messages, maxTokens: 10 }
      const { content } = await sendRequest({ method: 'sampling/createMessage', params }, CreateMessageResultSchema)
      return `model said ${content.type === 'text' ? content.text : '?'}`
    },
    async count({ sendNotification, _meta }) {
      for (const progress of [1, 2, 3]) {
        if (_meta?.progressToken === undefined) break
        const params = { progressToken: _meta.progressToken, progress, total: 3 }
        await sendNotification({ method: 'notifications/progress', params })
        await wait(20)
      }
      return 'counted'
    },
    async wait({ signal }) {
      await wait(10_000, undefined, { signal }).catch(() => void counter.cancellations++)
      return 'waited'
    },
    cancellations: async () => String(counter.cancellations),
    async later({ closeSSEStream }) {
      closeSSEStream?.()
      await wait(300)
      return 'resumed'
    },
  }
  const integer = { type: 'integer' }
  const inputSchema = { type: 'object', properties: { a: integer, b: integer } } as const

  const server = new Server(
    { name: 'typescript-1', version: '1.0.0' },
    { capabilities: { tools: {}, resources: {}, prompts: {} } },
  )
  server.setRequestHandler(ListToolsRequestSchema, () => ({
    tools: Object.keys(tools).map((name) => ({ name, description: name, inputSchema })),
  }))
  server.setRequestHandler(CallToolRequestSchema, async ({ params }, extra) =>
    says(await tools[params.name]!(extra, params.arguments as unknown as Numbers)),
  )
  server.setRequestHandler(ListResourcesRequestSchema, () => ({ resources: [{ name: 'one', uri: 'note://one' }] }))
  server.setRequestHandler(ReadResourceRequestSchema, ({ params }) => ({
    contents: [{ uri: params.uri, text: 'one' }],
  }))
  server.setRequestHandler(ListPromptsRequestSchema, () => ({ prompts: [{ name: 'greet' }] }))
  server.setRequestHandler(GetPromptRequestSchema, () => ({ messages: [{ role: 'user', content: text('Hello') }] }))
  return server
}
