import { createServer } from 'node:http'
import type { AddressInfo } from 'node:net'

/** An LLM provider that answers each chat completion with `yes`, for 5 input and 3 output tokens. */
export interface ChatProvider extends AsyncDisposable {
  readonly port: number
}

export async function startChatProvider(): Promise<ChatProvider> {
  const server = createServer((incoming, response) => {
    incoming.resume()
    const usage = { prompt_tokens: 5, completion_tokens: 3, total_tokens: 8 }
    const choices = [{ index: 0, message: { role: 'assistant', content: 'yes' }, finish_reason: 'stop' }]
    response.setHeader('content-type', 'application/json')
    incoming.on('end', () => response.end(JSON.stringify({ id: 'c', model: 'm', choices, usage })))
  })
  await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve))
  const { port } = server.address() as AddressInfo
  return { port, [Symbol.asyncDispose]: () => new Promise((resolve) => void server.close(() => resolve())) }
}

/** A ProxyBackend of that name whose provider is at a loopback port. */
export function modelsYaml(name: string, port: number): string {
  const spec = { ai: { provider: { providerOne: {}, host: '127.0.0.1', port } } }
  return `
apiVersion: gatewright.dev/v1alpha1
kind: ProxyBackend
metadata: { name: ${name} }
spec: ${JSON.stringify(spec)}
`
}
