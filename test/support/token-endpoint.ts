import { once } from 'node:events'
import { createServer, type IncomingMessage, type ServerResponse } from 'node:http'
import type { AddressInfo } from 'node:net'

/** A server that gives out tokens or keys. */
export interface TokenEndpoint extends AsyncDisposable {
  readonly port: number
  readonly url: string
  /** `METHOD /path?query body`, for each request. */
  readonly seen: string[]
  /** How it answers from now on. */
  answer: Answer
}

/** A JSON value with status 200, a status with text, no answer at all, or anything else. */
export type Answer =
  | { readonly json: unknown }
  | { readonly status: number; readonly text: string; readonly headers?: Readonly<Record<string, string>> }
  | 'silence'
  | ((request: IncomingMessage, response: ServerResponse) => void)

export async function startTokenEndpoint(answer: Answer): Promise<TokenEndpoint> {
  const seen: string[] = []
  const server = createServer((request, response) => {
    let body = ''
    request.setEncoding('utf8')
    request.on('data', (text: string) => {
      body += text
    })
    request.on('end', () => {
      seen.push(`${request.method} ${request.url} ${body}`.trim())
      give(endpoint.answer, request, response)
    })
  })
  server.listen(0, '127.0.0.1')
  await once(server, 'listening')
  const { port } = server.address() as AddressInfo
  const endpoint: TokenEndpoint = {
    port,
    url: `http://127.0.0.1:${port}`,
    seen,
    answer,
    async [Symbol.asyncDispose]() {
      server.closeAllConnections()
      await new Promise((resolve) => server.close(resolve))
    },
  }
  return endpoint
}

function give(answer: Answer, request: IncomingMessage, response: ServerResponse): void {
  if (answer === 'silence') return
  if (typeof answer === 'function') return answer(request, response)
  if ('json' in answer) {
    response.writeHead(200, { 'content-type': 'application/json', 'metadata-flavor': 'Google' })
    response.end(JSON.stringify(answer.json))
  } else response.writeHead(answer.status, { ...answer.headers }).end(answer.text)
}
