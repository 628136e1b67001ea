import { createServer, type RequestListener, type Server, type ServerResponse } from 'node:http'
import { createServer as createSecureServer } from 'node:https'
import type { AddressInfo } from 'node:net'
import { keySetOf, type SigningKey } from './token-issuer.ts'

/** The server of an issuer that publishes its keys. */
export interface KeySetServer {
  readonly port: number
  /** The request lines so far, such as `GET /keys`. */
  readonly requests: readonly string[]
  /** Responds with these keys from now on. */
  publish(...keys: SigningKey[]): void
  /** Responds with this status and body from now on. */
  answer(status: number, body: string): void
  /** Delays responses until the returned function is called. */
  hold(): () => void
  close(): Promise<void>
}

export interface KeySetServerOptions {
  readonly port?: number
  readonly tls?: { readonly cert: string; readonly key: string }
}

export async function startKeySetServer(
  keys: readonly SigningKey[],
  { port = 0, tls }: KeySetServerOptions = {},
): Promise<KeySetServer> {
  const requests: string[] = []
  const held: ServerResponse[] = []
  let holds = false
  let said = { status: 200, body: keySetOf(...keys) }
  const send = (response: ServerResponse) => {
    response.writeHead(said.status, { 'content-type': 'application/json' }).end(said.body)
  }
  const listener: RequestListener = ({ method, url }, response) => {
    requests.push(`${method} ${url}`)
    if (holds) held.push(response)
    else send(response)
  }
  const server: Server = tls === undefined ? createServer(listener) : createSecureServer(tls, listener)
  await new Promise<void>((resolve, reject) => {
    server.once('error', reject)
    server.listen({ host: '127.0.0.1', port }, resolve)
  })
  return {
    port: (server.address() as AddressInfo).port,
    requests,
    publish(...published) {
      said = { status: 200, body: keySetOf(...published) }
    },
    answer(status, body) {
      said = { status, body }
    },
    hold() {
      holds = true
      return () => {
        holds = false
        for (const response of held.splice(0)) send(response)
      }
    },
    close() {
      server.closeAllConnections()
      return new Promise((resolve) => server.close(() => resolve()))
    },
  }
}
