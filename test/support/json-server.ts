import { createServer, type IncomingHttpHeaders, type IncomingMessage, type ServerResponse } from 'node:http'
import { createServer as createSecureServer, type ServerOptions } from 'node:https'
import type { AddressInfo } from 'node:net'
import type { Duplex } from 'node:stream'

/** A request with a JSON body. */
export interface JsonRequest {
  readonly path: string
  readonly headers: IncomingHttpHeaders
  readonly body: unknown
  /** The name that the client wants the server to have (TLS). */
  readonly serverName: string | undefined
}

/** A server whose answers a test decides. */
export interface JsonServer extends AsyncDisposable {
  readonly port: number
  readonly seen: JsonRequest[]
  answer: (request: JsonRequest, response: ServerResponse) => void
  /** A request asks for another protocol. */
  upgrade: (request: IncomingMessage, socket: Duplex) => void
}

/** @param secure the server speaks TLS */
export async function startJsonServer(secure?: ServerOptions): Promise<JsonServer> {
  const respond = (incoming: IncomingMessage, response: ServerResponse) => {
    let text = ''
    incoming.on('data', (piece) => {
      text += piece
    })
    incoming.on('end', () => {
      const { url, headers, socket } = incoming
      const serverName = 'servername' in socket ? String(socket.servername) : undefined
      const request = { path: url!, headers, body: text === '' ? undefined : (JSON.parse(text) as unknown), serverName }
      result.seen.push(request)
      result.answer(request, response)
    })
  }
  const server = secure === undefined ? createServer(respond) : createSecureServer(secure, respond)
  // The server does not know these any more.
  const upgraded = new Set<Duplex>()
  server.on('upgrade', (request, socket) => {
    upgraded.add(socket)
    result.upgrade(request, socket)
  })
  await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve))
  const result: JsonServer = {
    port: (server.address() as AddressInfo).port,
    seen: [],
    answer: (_, response) => answerJson(response, {}),
    upgrade: (_, socket) => socket.destroy(),
    async [Symbol.asyncDispose]() {
      server.closeAllConnections()
      for (const socket of upgraded) socket.destroy()
      await new Promise((resolve) => server.close(resolve))
    },
  }
  return result
}

export function answerJson(response: ServerResponse, value: unknown, status = 200): void {
  response.writeHead(status, { 'content-type': 'application/json' }).end(JSON.stringify(value))
}
