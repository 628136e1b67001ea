import { createServer } from 'node:http'
import type { AddressInfo } from 'node:net'
import Anthropic from '@anthropic-ai/sdk'
import OpenAI from 'openai'
import { expect } from 'vitest'
import { freePort } from '#test/support/free-port.ts'
import { startGateway } from '#test/support/gateway.ts'
import { createObjectsFolder, gatewayYaml, joinYaml, routeYaml } from '#test/support/objects-folder.ts'
import { policyYaml } from '#test/support/policy-yaml.ts'
import { verifies } from '#test/support/verifies.ts'

const backendYaml = (port: number) => `
apiVersion: gatewright.dev/v1alpha1
kind: ProxyBackend
metadata: { name: llm }
spec:
  ai: { provider: { providerOne: {}, host: 127.0.0.1, port: ${port} } }
  policies:
    ai:
      routes: { /v1/models: Models, /v1/chat/completions: Completions }
      modelAliases: { fast: model-1 }
`

/** Everybody may list models, and use all but one. */
const POLICY = {
  backend: { auth: { key: 'k3y' } },
  traffic: {
    authorization: {
      policy: { matchExpressions: ['request.method == "GET"', 'llm.clientModel != "model-2"'] },
    },
  },
}

verifies('llm.routes/models', 'an official client lists the models that it can use', async () => {
  await using stops = new AsyncDisposableStack()
  const asked: string[] = []
  const provider = createServer((request, response) => {
    asked.push(`${request.method} ${request.url} ${request.headers.authorization}`)
    const data = ['model-1', 'model-2', 'model-3'].map((id) => ({
      id,
      object: 'model',
      created: 1,
      owned_by: 'vendor',
    }))
    request.resume()
    response.setHeader('content-type', 'application/json').end(JSON.stringify({ object: 'list', data }))
  })
  await new Promise<void>((resolve) => provider.listen(0, '127.0.0.1', resolve))
  stops.defer(() => void provider.close())
  const port = await freePort()
  const folder = await createObjectsFolder({
    'all.yaml': joinYaml(
      gatewayYaml(port),
      backendYaml((provider.address() as AddressInfo).port),
      routeYaml('llm', '/', 'llm'),
      policyYaml('llm', 'HTTPRoute', 'llm', POLICY),
    ),
  })
  stops.defer(folder.remove)
  stops.use(await startGateway({ files: [folder.path], workers: 1 }))
  const client = new OpenAI({ baseURL: `http://127.0.0.1:${port}/v1`, apiKey: 'of the client', maxRetries: 0 })

  const listed = await Array.fromAsync(client.models.list())
  expect(listed.map(({ id, owned_by }) => [id, owned_by])).toEqual([
    ['fast', 'openai'],
    ['model-1', 'vendor'],
    ['model-3', 'vendor'],
  ])
  expect(await Array.fromAsync(client.models.list())).toHaveLength(3)
  expect(asked).toEqual(['GET /v1/models Bearer k3y'])
  const chat = client.chat.completions.create({ model: 'model-2', messages: [{ role: 'user', content: 'Hi' }] })
  await expect(chat).rejects.toBeInstanceOf(OpenAI.PermissionDeniedError)

  expect(await client.models.retrieve('model-3')).toMatchObject({ id: 'model-3', owned_by: 'vendor' })
  await expect(client.models.retrieve('model-2')).rejects.toMatchObject({ status: 404, code: 'llm-model-unknown' })
  const messages = new Anthropic({ baseURL: `http://127.0.0.1:${port}`, apiKey: 'of the client', maxRetries: 0 })
  expect(await messages.models.retrieve('fast')).toMatchObject({ type: 'model', id: 'fast' })
  await expect(messages.models.retrieve('a/b')).rejects.toBeInstanceOf(Anthropic.NotFoundError)
  expect(asked).toHaveLength(1)

  const page = await fetch(`http://127.0.0.1:${port}/v1/models?limit=2&after_id=fast`, {
    headers: { 'anthropic-version': '2023-06-01' },
  })
  expect(await page.json()).toMatchObject({
    data: [{ type: 'model', id: 'model-1' }, { id: 'model-3' }],
    has_more: false,
    first_id: 'model-1',
    last_id: 'model-3',
  })
})
