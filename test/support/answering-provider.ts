import { createServer } from 'node:http'
import type { AddressInfo } from 'node:net'

export interface ProviderResponse {
  readonly status?: number
  readonly headers?: Readonly<Record<string, string>>
  /** Text is sent as a stream, bytes as they are, something else as JSON. */
  readonly body: unknown
}

export interface ProviderRequest {
  readonly path: string | undefined
  readonly body: Record<string, unknown>
}

/** An LLM provider whose next response a test decides. */
export interface AnsweringProvider extends AsyncDisposable {
  readonly port: number
  answer: ProviderResponse
  /** The last request that it got. */
  got: ProviderRequest
}

export async function startAnsweringProvider(): Promise<AnsweringProvider> {
  const server = createServer((incoming, response) => {
    let text = ''
    incoming.on('data', (piece) => {
      text += piece
    })
    incoming.on('end', () => {
      const { status = 200, headers, body } = provider.answer
      provider.got = { path: incoming.url, body: JSON.parse(text) }
      const isStream = typeof body === 'string'
      response.writeHead(status, { 'content-type': isStream ? 'text/event-stream' : 'application/json', ...headers })
      response.end(isStream || body instanceof Uint8Array ? body : JSON.stringify(body))
    })
  })
  await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve))
  const provider: AnsweringProvider = {
    port: (server.address() as AddressInfo).port,
    answer: { body: {} },
    got: { path: undefined, body: {} },
    [Symbol.asyncDispose]: async () => {
      server.closeAllConnections()
      await new Promise<void>((resolve) => void server.close(() => resolve()))
    },
  }
  return provider
}

/** A ProxyBackend of that name and kind whose provider is at a loopback port. */
export function providerYaml(
  name: string,
  kind: string,
  port: number,
  routes: Readonly<Record<string, string>>,
): string {
  const spec = { ai: { provider: { [kind]: {}, host: '127.0.0.1', port } }, policies: { ai: { routes } } }
  return `
apiVersion: gatewright.dev/v1alpha1
kind: ProxyBackend
metadata: { name: ${name} }
spec: ${JSON.stringify(spec)}
`
}

/** Events of a stream whose names are their types. */
export function eventStream(
  ...events: readonly { readonly type: string; readonly [member: string]: unknown }[]
): string {
  return events.map((event) => `event: ${event.type}\ndata: ${JSON.stringify(event)}\n\n`).join('')
}
