import { createServer, type IncomingMessage, type ServerResponse } from 'node:http'
import { createServer as createSecureServer, type ServerOptions } from 'node:https'
import type { AddressInfo } from 'node:net'
import type { TestMessage } from './fake-targets.ts'

/** A request that a server has received. */
export interface RawCall {
  readonly method: string
  readonly headers: IncomingMessage['headers']
  readonly message: TestMessage
  /** Resolves when the response is over, or its connection. */
  readonly closed: Promise<void>
  /** Responds with one message. */
  json(message: object, status?: number, headers?: Readonly<Record<string, string>>): void
  /** Responds with an event. The stream stays open. */
  event(message: object, id?: string): void
  end(status?: number): void
}

export interface RawTarget {
  readonly port: number
  /** The messages so far, and the methods of requests without one, in order. */
  readonly seen: readonly string[]
  readonly calls: readonly RawCall[]
  close(): Promise<void>
}

/** An MCP server without a library, on 127.0.0.1, which may break the protocol. @param secure of its TLS; undefined: it has none */
export async function startRawTarget(answer: (call: RawCall) => unknown, secure?: ServerOptions): Promise<RawTarget> {
  const calls: RawCall[] = []
  const receive = async (request: IncomingMessage, response: ServerResponse) => {
    const body = Buffer.concat((await request.toArray()) as Buffer[]).toString()
    const call = toCall(request, response, body)
    calls.push(call)
    await answer(call)
  }
  const server = secure === undefined ? createServer(receive) : createSecureServer(secure, receive)
  await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve))
  return {
    port: (server.address() as AddressInfo).port,
    calls,
    get seen() {
      return calls.map(({ method, message }) => message.method ?? (message.id === undefined ? method : 'response'))
    },
    close: async () => {
      server.closeAllConnections()
      await new Promise((resolve) => server.close(resolve))
    },
  }
}

function toCall({ method = '', headers }: IncomingMessage, response: ServerResponse, body: string): RawCall {
  const { promise: closed, resolve } = Promise.withResolvers<void>()
  response.once('close', resolve)
  return {
    method,
    headers,
    message: body === '' ? {} : (JSON.parse(body) as TestMessage),
    closed,
    json: (message, status = 200, more = {}) =>
      void response.writeHead(status, { 'content-type': 'application/json', ...more }).end(JSON.stringify(message)),
    event: (message, id) => {
      if (!response.headersSent) response.writeHead(200, { 'content-type': 'text/event-stream' })
      response.write(`${id === undefined ? '' : `id: ${id}\n`}data: ${JSON.stringify(message)}\n\n`)
    },
    end: (status = 202) => void (response.headersSent ? response.end() : response.writeHead(status).end()),
  }
}

/** The methods that every server of the legacy era has. @returns false: the call is another one */
export function answerSession({ message, method, json, end }: RawCall, capabilities: object = { tools: {} }): boolean {
  if (message.method === 'initialize') {
    const { protocolVersion } = message.params ?? {}
    const result = { protocolVersion, capabilities, serverInfo: { name: 'raw', version: '1' } }
    json({ jsonrpc: '2.0', id: message.id, result }, 200, { 'mcp-session-id': crypto.randomUUID() })
  } else if (message.method === 'server/discover') {
    json({ jsonrpc: '2.0', id: message.id, error: { code: -32601, message: 'Method not found' } }, 404)
  } else if (method === 'DELETE' || (message.id === undefined && message.method !== undefined)) end()
  else return false
  return true
}

/** The methods that every server of the modern era has. @returns false: the call is another one */
export function answerModern({ message, json, end }: RawCall, capabilities: object = { tools: {} }): boolean {
  if (message.method === 'initialize') {
    json({ jsonrpc: '2.0', id: message.id, error: { code: -32022, message: 'Unsupported protocol version' } }, 400)
  } else if (message.method === 'server/discover') {
    const result = { resultType: 'complete', supportedVersions: ['2026-07-28'], capabilities, ttlMs: 0 }
    json({ jsonrpc: '2.0', id: message.id, result: { ...result, cacheScope: 'private' } })
  } else if (message.id === undefined) end()
  else return false
  return true
}
