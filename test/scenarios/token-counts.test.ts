import { expect } from 'vitest'
import { eventually } from '#test/support/eventually.ts'
import { freePort } from '#test/support/free-port.ts'
import { startGateway } from '#test/support/gateway.ts'
import { createObjectsFolder, gatewayYaml, joinYaml, routeYaml } from '#test/support/objects-folder.ts'
import { verifies } from '#test/support/verifies.ts'

/** @param port one where nobody listens, because nothing is sent */
const backendYaml = (port: number) => `
apiVersion: gatewright.dev/v1alpha1
kind: ProxyBackend
metadata: { name: llm }
spec:
  ai: { provider: { providerOne: {}, host: 127.0.0.1, port: ${port} } }
  policies:
    ai:
      routes: { /v1/messages/count_tokens: MessagesTokenCount }
      modelAliases: { fast: gpt-4o }
`

verifies(
  'llm.routes/messages-token-count',
  'a running gateway counts tokens for a provider that does not',
  async () => {
    await using stops = new AsyncDisposableStack()
    const port = await freePort()
    const folder = await createObjectsFolder({
      'all.yaml': joinYaml(gatewayYaml(port), backendYaml(await freePort()), routeYaml('llm', '/', 'llm')),
    })
    stops.defer(folder.remove)
    const gateway = stops.use(await startGateway({ files: [folder.path], workers: 2 }))
    const count = async (body: object) => {
      const response = await fetch(`http://127.0.0.1:${port}/v1/messages/count_tokens`, {
        method: 'POST',
        body: JSON.stringify({ model: 'fast', ...body }),
      })
      return [response.status, response.headers.get('x-token-count'), await response.json()]
    }
    const messages = [{ role: 'user', content: 'How many r are in strawberry?' }]
    const counted = await eventually('the vocabulary is loaded', async () => {
      const found = await count({ system: 'You are terse.', messages })
      return found[1] === 'estimated' ? found : undefined
    })
    expect(counted).toEqual([200, 'estimated', { input_tokens: 3 + 4 + 4 + 4 + 7 }])
    expect((await count({ messages: [{ role: 'user', content: 'x'.repeat(1_500_000) }] }))[0]).toBe(200)
    await eventually('it is logged', () =>
      gateway.output.stdout.includes('gatewright.ai.count.tokens=22 gatewright.ai.count.vocabulary=o200k'),
    )
  },
)
