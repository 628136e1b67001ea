import { afterAll, beforeAll, expect, test } from 'vitest'
import { startEcho } from '#examples/upstreams/echo.ts'
import { modelsYaml, startChatProvider } from '#test/support/chat-provider.ts'
import { freePort } from '#test/support/free-port.ts'
import { startGateway } from '#test/support/gateway.ts'
import { backendYaml, createObjectsFolder, gatewayYaml, joinYaml, routeYaml } from '#test/support/objects-folder.ts'
import { policyYaml } from '#test/support/policy-yaml.ts'

/** A list of allowed models, for requests of all sizes, and a route that the model chooses. */

const stops = new AsyncDisposableStack()
let port: number

const ALLOWED = { authorization: { policy: { matchExpressions: ['llm.clientModel in ["small", "large"]'] } } }

/** Requests for large models go to a route of their own. */
const BY_MODEL = {
  phase: 'PreRouting',
  transformation: { request: { set: [{ name: 'x-model', value: 'default(llm.clientModel, "none")' }] } },
}

const LARGE = '      matches: [{ path: { type: PathPrefix, value: / }, headers: [{ name: x-model, value: large }] }]'

beforeAll(async () => {
  const provider = stops.use(await startChatProvider())
  const echo = await startEcho({ port: 0 })
  stops.defer(echo.close)
  port = await freePort()
  const large = routeYaml('large', '/', 'echo').replace(/ {4}- matches.*/, `    -${LARGE.slice(5)}`)
  const objects = await createObjectsFolder({
    'all.yaml': joinYaml(
      gatewayYaml(port),
      modelsYaml('models', provider.port),
      backendYaml('echo', echo.port),
      routeYaml('llm', '/', 'models'),
      large,
      policyYaml('allowed', 'HTTPRoute', 'llm', { traffic: ALLOWED }),
      policyYaml('by-model', 'Gateway', 'main', { traffic: BY_MODEL }),
      policyYaml('sizes', 'Gateway', 'main', { frontend: { http: { maxBufferSize: '16Mi' } } }),
    ),
  })
  stops.defer(objects.remove)
  const gateway = await startGateway({ files: [objects.path] })
  stops.defer(async () => void (await gateway.close()))
})

afterAll(() => stops.disposeAsync())

async function post(body: string): Promise<{ readonly status: number; readonly text: string }> {
  const answer = await fetch(`http://127.0.0.1:${port}/v1/chat/completions`, { method: 'POST', body })
  return { status: answer.status, text: await answer.text() }
}

const chat = (model: string, content = 'hello') => JSON.stringify({ messages: [{ role: 'user', content }], model })

test.each([
  ['a short prompt', 'hello'],
  ['6 MB of text', 'word '.repeat(1_200_000)],
  ['6 MB of escapes', '\n"\\'.repeat(1_000_000)],
])('%s: the list decides', async (_, content) => {
  expect((await post(chat('small', content))).status).toBe(200)
  expect((await post(chat('other', content))).status).toBe(403)
})

test.each([
  ['no model', '{"messages":[]}'],
  ['two models', '{"model":"small","messages":[],"model":"other"}'],
  ['no JSON', '{"model":"small"'],
])('%s: refused', async (_, body) => {
  expect((await post(body)).status).toBe(403)
})

test('the model chooses the route', async () => {
  const { status, text } = await post(chat('large'))
  expect(status).toBe(200)
  expect(text).toContain('x-model')
})
