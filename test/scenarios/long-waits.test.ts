import { createServer } from 'node:http'
import type { AddressInfo } from 'node:net'
import Anthropic from '@anthropic-ai/sdk'
import OpenAI from 'openai'
import { afterAll, beforeAll, beforeEach, expect, test } from 'vitest'
import { modelsYaml, startChatProvider } from '#test/support/chat-provider.ts'
import { freePort } from '#test/support/free-port.ts'
import { startGateway, type TestGateway } from '#test/support/gateway.ts'
import { createObjectsFolder, gatewayYaml, joinYaml, routeYaml } from '#test/support/objects-folder.ts'
import { policyYaml } from '#test/support/policy-yaml.ts'

/** The vendors' own clients at a used-up budget: they sleep as long as `Retry-After` says, unless the response forbids it. */

const stops = new AsyncDisposableStack()
let gateway: TestGateway
let port: number
let asked = 0

/** A provider without quota for the rest of the day. */
async function startBusyProvider(): Promise<number> {
  const server = createServer((request, response) => {
    asked++
    request.resume().on('end', () => {
      const body = JSON.stringify({ error: { message: 'quota exceeded', type: 'tokens', code: 'rate_limit_exceeded' } })
      response.writeHead(429, { 'content-type': 'application/json', 'retry-after': '80000' }).end(body)
    })
  })
  await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve))
  stops.defer(() => {
    server.closeAllConnections()
    server.close()
  })
  return (server.address() as AddressInfo).port
}

beforeAll(async () => {
  const provider = stops.use(await startChatProvider())
  port = await freePort()
  const limits = {
    budget: { tokens: 8, unit: 'Hours', key: 'request.headers["user-agent"]' },
    brief: { requests: 1, unit: 'Minutes' },
  }
  const objects = await createObjectsFolder({
    'all.yaml': joinYaml(
      gatewayYaml(port),
      modelsYaml('models', provider.port),
      modelsYaml('busy', await startBusyProvider()),
      routeYaml('provider', '/busy', 'busy'),
      ...Object.entries(limits).flatMap(([name, limit]) => [
        routeYaml(name, `/${name}`, 'models'),
        policyYaml(name, 'HTTPRoute', name, { traffic: { rateLimit: { local: [limit] } } }),
      ]),
    ),
  })
  stops.defer(objects.remove)
  gateway = await startGateway({ files: [objects.path] })
  stops.defer(async () => void (await gateway.close()))
})

beforeEach(() => {
  asked = 0
})

afterAll(() => stops.disposeAsync())

const HELLO = { role: 'user', content: 'hello' } as const

/** One chat of each official client, which may repeat a request twice. */
const CLIENTS = {
  openai: (path: string) => {
    const client = new OpenAI({ baseURL: `http://127.0.0.1:${port}${path}/v1`, apiKey: 'k' })
    return client.chat.completions.create({ model: 'm', messages: [HELLO] })
  },
  anthropic: (path: string) => {
    const client = new Anthropic({ baseURL: `http://127.0.0.1:${port}${path}`, apiKey: 'k' })
    return client.messages.create({ model: 'm', max_tokens: 10, messages: [HELLO] })
  },
}

async function errorOf(
  answer: Promise<unknown>,
): Promise<InstanceType<typeof OpenAI.APIError> | InstanceType<typeof Anthropic.APIError>> {
  const error = await answer.then(
    () => undefined,
    (error: unknown) => error,
  )
  if (error instanceof OpenAI.APIError || error instanceof Anthropic.APIError) return error
  throw new Error(`no error of the API: ${String(error)}`)
}

test.each(Object.entries(CLIENTS))(
  'a used-up budget of %s: an error at once, with the limit and its end',
  async (_, chat) => {
    await chat('/budget')
    const { status, message, headers } = await errorOf(chat('/budget'))
    expect([status, headers?.get('x-should-retry')]).toEqual([429, 'false'])
    const end = /rate limit exceeded: 8 tokens per hour; wait until (\d{4}-\d\d-\d\dT\d\d:\d\d:\d\dZ)/.exec(
      message,
    )?.[1]
    const waitMs = Date.parse(end ?? '') - Date.now()
    expect(waitMs).toBeGreaterThan(0)
    expect(waitMs).toBeLessThanOrEqual(3_601_000)
  },
)

test.each(Object.entries(CLIENTS))('a long wait that the provider asks of %s', async (_, chat) => {
  const { status, message, headers } = await errorOf(chat('/busy'))
  expect([status, headers?.get('retry-after'), headers?.get('x-should-retry')]).toEqual([429, '80000', 'false'])
  expect(message).toContain('quota exceeded')
  expect(asked).toBe(1)
})

test('a client may wait for a limit that ends within a minute', async () => {
  const post = () =>
    fetch(`http://127.0.0.1:${port}/brief/v1/chat/completions`, {
      method: 'POST',
      body: JSON.stringify({ model: 'm', messages: [HELLO] }),
    })
  expect((await post()).status).toBe(200)
  const refused = await post()
  expect([refused.status, refused.headers.get('x-should-retry')]).toEqual([429, null])
  expect(await refused.json()).toMatchObject({
    error: { message: expect.stringMatching(/^rate limit exceeded: 1 request per minute; wait until .*Z$/) },
  })
})
