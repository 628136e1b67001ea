import { createServer, type IncomingHttpHeaders } from 'node:http'
import type { AddressInfo } from 'node:net'
import { text } from 'node:stream/consumers'
import { gzipSync } from 'node:zlib'
import { afterAll, beforeAll, expect, test } from 'vitest'
import { freePort } from '#test/support/free-port.ts'
import { startGateway, type TestGateway } from '#test/support/gateway.ts'
import { createObjectsFolder, gatewayYaml, joinYaml, routeYaml } from '#test/support/objects-folder.ts'
import { policyYaml } from '#test/support/policy-yaml.ts'

// A request that moves through providers of several APIs: each gets exactly what it would get alone, and no credential of another one.

interface Received {
  readonly name: string
  readonly url: string
  readonly headers: IncomingHttpHeaders
  readonly body: string
}

const PROVIDERS = {
  chat: { providerOne: {}, policies: { auth: { key: 'sk-chat' } } },
  claude: { providerFour: {}, policies: { auth: { key: 'sk-claude' } } },
  project: {
    providerThree: { resourceName: 'r', resourceType: 'ResourceTypeTwo', projectName: 'p' },
    policies: { auth: { key: 'sk-project' } },
  },
  platform: { providerSix: { projectId: 'p' }, policies: { auth: { key: 'sk-platform' } } },
  signed: { providerSeven: {}, policies: { auth: { cloudOne: { secretRef: { name: 'aws' } } } } },
  own: { providerOne: {}, policies: { auth: { key: 'sk-own', location: { header: { name: 'x-own' } } } } },
} as const
type Name = keyof typeof PROVIDERS
const NAMES = Object.keys(PROVIDERS) as Name[]

/** What only one of them may see. */
const SECRETS: Readonly<Record<Name, readonly string[]>> = {
  chat: ['sk-chat'],
  claude: ['sk-claude'],
  project: ['sk-project'],
  platform: ['sk-platform'],
  signed: ['AKIATEST', 'session-aws', 'AWS4-HMAC'],
  own: ['sk-own'],
}

const SETTINGS = {
  routes: { '/chat/completions': 'Completions', '/messages': 'Messages', '/responses': 'Responses' },
  prompt: {
    prepend: [{ role: 'system', content: 'Be brief.' }],
    append: [{ role: 'user', content: 'Thanks.' }],
  },
  overrides: [{ field: 'temperature', value: 0.5 }],
  modelAliases: { fast: 'claude-sonnet-4-5' },
}

/** Its own thoughts, and those that another API has signed. */
const thoughts = ['own', 'gatewright:completions:signature:c2ln'].map((signature) => ({
  ...{ type: 'thinking', thinking: 'Hm.', signature },
}))
const scoped = { type: 'text', text: 'Hi.', cache_control: { type: 'ephemeral', scope: 'global' } }
const tool = { type: 'function', function: { name: 'get weather!', parameters: { type: 'object' } } }
const REQUESTS: Readonly<Record<string, object>> = {
  '/chat/completions': { messages: [{ role: 'user', content: 'Hi.' }], tools: [tool], max_tokens: 50, seed: 1 },
  '/messages': {
    max_tokens: 50,
    messages: [
      { role: 'user', content: [scoped] },
      { role: 'assistant', content: thoughts },
      { role: 'user', content: 'Go on.' },
    ],
  },
  '/responses': { input: 'Hi.', instructions: 'Rhyme.', max_output_tokens: 50 },
}

const stops = new AsyncDisposableStack()
afterAll(() => stops.disposeAsync())
let gateway: TestGateway
let port: number
const received: Received[] = []

/** It is busy, and says what it got. */
async function startProvider(name: Name): Promise<number> {
  const server = createServer(async (incoming, response) => {
    received.push({ name, url: incoming.url!, headers: incoming.headers, body: await text(incoming) })
    response.writeHead(503, { 'content-type': 'application/json', 'retry-after': '7' })
    response.end(JSON.stringify({ error: { message: JSON.stringify(incoming.headers), type: 'server_error' } }))
  })
  await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve))
  stops.defer(() => {
    server.closeAllConnections()
    server.close()
  })
  return (server.address() as AddressInfo).port
}

beforeAll(async () => {
  const ports = Object.fromEntries(await Promise.all(NAMES.map(async (name) => [name, await startProvider(name)])))
  port = await freePort()
  const backends = { ...Object.fromEntries(NAMES.map((name) => [name, [name]])), all: NAMES, back: NAMES.toReversed() }
  const yaml = Object.entries(backends).flatMap(([backend, names]) => {
    const groups = names.map((name) => {
      return { providers: [{ name, ...PROVIDERS[name], host: '127.0.0.1', port: ports[name] }] }
    })
    const retry = { attempts: names.length - 1, codes: [503] }
    return [
      `
apiVersion: gatewright.dev/v1alpha1
kind: ProxyBackend
metadata: { name: ${backend} }
spec: ${JSON.stringify({ ai: { groups }, policies: { ai: SETTINGS } })}
`,
      routeYaml(backend, `/${backend}`, backend),
      ...(names.length === 1 ? [] : [policyYaml(backend, 'HTTPRoute', backend, { traffic: { retry } })]),
    ]
  })
  const secret = `
apiVersion: v1
kind: Secret
metadata: { name: aws }
stringData: { accessKey: AKIATEST, secretKey: secret-aws, sessionToken: session-aws }
`
  const objects = await createObjectsFolder({ 'all.yaml': joinYaml(gatewayYaml(port), secret, ...yaml) })
  stops.defer(objects.remove)
  gateway = await startGateway({ files: [objects.path], workers: 1 })
  stops.defer(async () => void (await gateway.close()))
})

const OF_CLIENT = {
  ...{ authorization: 'Bearer c-bearer', 'api-key': 'c-key', 'x-api-key': 'c-x-key', 'x-goog-api-key': 'c-goog' },
  ...{ 'x-amz-security-token': 'c-token', 'anthropic-beta': 'b', 'openai-organization': 'o' },
}

async function ask(backend: string, path: string, coding?: string): Promise<readonly Received[]> {
  received.length = 0
  const body = JSON.stringify({ model: 'fast', ...REQUESTS[path] })
  const response = await fetch(`http://127.0.0.1:${port}/${backend}${path}`, {
    method: 'POST',
    headers: { ...OF_CLIENT, 'content-type': 'text/plain', ...(coding && { 'content-encoding': coding }) },
    body: coding === undefined ? body : gzipSync(body),
  })
  expect([response.status, response.headers.get('retry-after')]).toEqual([503, '7'])
  await response.text()
  return [...received]
}

/** Without what is new in each attempt. */
function comparable({ url, headers, body }: Received): object {
  const { host: _host, authorization, 'x-amz-date': _date, 'x-retry-attempt': _attempt, ...rest } = headers
  return { url, body, rest, authorization: authorization?.replace(/, SignedHeaders.*/, '') }
}

test.each(Object.keys(REQUESTS))('%s: each provider gets what it would get alone', async (path) => {
  const alone = new Map<string, object>()
  for (const name of NAMES) for (const one of await ask(name, path)) alone.set(name, comparable(one))
  for (const backend of ['all', 'back']) {
    const attempts = await ask(backend, path, 'gzip')
    const order = attempts.map(({ name }) => name)
    expect(order).toEqual(backend === 'all' ? NAMES : NAMES.toReversed())
    for (const attempt of attempts) expect(comparable(attempt)).toEqual(alone.get(attempt.name))
    const types = attempts.map(({ name, headers }) => (name === 'signed' ? headers['content-type'] : undefined))
    expect(types.find((type) => type !== undefined)).toBe('application/json')
    for (const { name, url, headers } of attempts) {
      const seen = JSON.stringify([url, headers])
      for (const other of NAMES) {
        const has = SECRETS[other].map((secret) => seen.includes(secret))
        expect([name, other, has]).toEqual([name, other, SECRETS[other].map(() => other === name)])
      }
      // Without an own location, the credential of the gateway takes the place of that of the client.
      expect(seen.includes('c-bearer')).toBe(name === 'own')
    }
  }
})

test('neither log nor records have a secret, although the providers echo them', async () => {
  const records = await (await fetch(`${gateway.url(15_000)}/decisions?limit=100`)).text()
  const { stdout, stderr } = gateway.output
  expect(records).toContain('retry-after: 7')
  for (const secret of [...Object.values(SECRETS).flat(), 'secret-aws', 'c-bearer', 'c-x-key', 'c-goog', 'c-token']) {
    expect([secret, records.includes(secret), stdout.includes(secret), stderr.includes(secret)]).toEqual([
      ...[secret, false, false, false],
    ])
  }
})
