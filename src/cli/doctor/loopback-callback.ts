import { createServer } from 'node:http'
import type { AddressInfo } from 'node:net'
import { UsageError } from '../usage-error.ts'

/** Waits on this machine for the redirect of a browser (RFC 8252, 7.3). */
export interface LoopbackCallback extends AsyncDisposable {
  readonly address: string
  /** The query of the redirect; undefined: none came in time. */
  readonly query: Promise<URLSearchParams | undefined>
}

const PATH = '/callback'
const PAGE = 'gatewright mcp doctor has the answer of the identity provider. You can close this page.'

/** Throws a `UsageError` if the port cannot be used. @param port 0: any */
export async function openCallback(port: number, timeoutMs: number): Promise<LoopbackCallback> {
  const { promise, resolve } = Promise.withResolvers<URLSearchParams | undefined>()
  const server = createServer((request, response) => {
    // Any program on this machine may ask for something that is no address.
    const url = URL.parse(request.url ?? '/', 'http://127.0.0.1')
    if (url?.pathname !== PATH) return void response.writeHead(404).end()
    response.writeHead(200, { 'content-type': 'text/plain', connection: 'close' }).end(PAGE)
    resolve(url.searchParams)
  })
  await new Promise<void>((listening, failed) => {
    server.once('error', ({ message }) => failed(new UsageError(`--redirect-port: ${message}`)))
    server.listen({ host: '127.0.0.1', port }, listening)
  })
  const timer = setTimeout(() => resolve(undefined), timeoutMs)
  return {
    address: `http://127.0.0.1:${(server.address() as AddressInfo).port}${PATH}`,
    query: promise,
    async [Symbol.asyncDispose]() {
      clearTimeout(timer)
      server.closeAllConnections()
      await new Promise((closed) => server.close(closed))
    },
  }
}
