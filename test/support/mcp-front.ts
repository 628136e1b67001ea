import { createServer, type IncomingMessage, type ServerResponse } from 'node:http'
import type { AddressInfo } from 'node:net'
import { Exchange } from '#exchange/exchange.ts'
import { Head } from '#net/http/head.ts'
import type { McpPlan } from '#protocols/mcp/config/mcp-plan.ts'
import { handleMcp } from '#protocols/mcp/handle-mcp.ts'
import type { McpDeps } from '#protocols/mcp/request/mcp-request.ts'
import { LOCAL_PEER } from './local-peer.ts'

/** A server on 127.0.0.1 that passes every request to `handleMcp`, like the proxy. */
export interface McpFront {
  /** `http://127.0.0.1:<port>/mcp` */
  readonly url: string
  /** The exchanges so far, in order. */
  readonly exchanges: readonly Exchange[]
  close(): Promise<void>
}

export interface McpFrontOptions {
  readonly plan: McpPlan
  readonly deps: Omit<McpDeps, 'signal'>
  /** Replaces earlier policies, for example to set an identity. */
  readonly prepare?: (exchange: Exchange) => void
}

export async function startMcpFront({ plan, deps, prepare }: McpFrontOptions): Promise<McpFront> {
  const exchanges: Exchange[] = []
  const server = createServer((incoming, outgoing) => {
    serve(incoming, outgoing).catch((error: unknown) => {
      console.error(error)
      outgoing.destroy()
    })
  })

  async function serve(incoming: IncomingMessage, outgoing: ServerResponse): Promise<void> {
    const gone = new AbortController()
    outgoing.once('close', () => gone.abort())
    const exchange = toExchange(incoming)
    exchanges.push(exchange)
    prepare?.(exchange)
    const received = Buffer.concat(await Array.fromAsync<Buffer>(incoming))
    const body = received.length === 0 ? undefined : received
    const answer = await handleMcp(plan, exchange, body, { ...deps, signal: gone.signal })
    for (const [name, value] of answer.headers) outgoing.appendHeader(name, value)
    outgoing.writeHead(answer.status).flushHeaders()
    if (answer.body === undefined || answer.body instanceof Uint8Array) outgoing.end(answer.body)
    else {
      const { body } = answer
      if ('pipe' in body) outgoing.once('close', () => body.cancel())
      for await (const piece of answer.body) outgoing.write(piece)
      outgoing.end()
    }
  }

  const { promise, resolve } = Promise.withResolvers<void>()
  server.listen(0, '127.0.0.1', resolve)
  await promise
  return {
    url: `http://127.0.0.1:${(server.address() as AddressInfo).port}/mcp`,
    exchanges,
    close: async () => {
      server.closeAllConnections()
      await new Promise((done) => server.close(done))
    },
  }
}

function toExchange(incoming: IncomingMessage): Exchange {
  const head = Head.request(incoming.method ?? 'GET', incoming.url ?? '/')
  for (const [name, values = []] of Object.entries(incoming.headersDistinct)) {
    for (const value of values) head.append(name, value)
  }
  const exchange = new Exchange(head, LOCAL_PEER)
  return exchange
}
