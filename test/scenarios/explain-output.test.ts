import { join } from 'node:path'
import { afterAll, beforeAll, expect, test } from 'vitest'
import { gatewright } from '#test/support/command-line.ts'
import {
  backendYaml,
  createObjectsFolder,
  gatewayYaml,
  joinYaml,
  type ObjectsFolder,
  routeYaml,
} from '#test/support/objects-folder.ts'
import { policyYaml } from '#test/support/policy-yaml.ts'

let objects: ObjectsFolder

beforeAll(async () => {
  const limits = { rateLimit: { local: ['Seconds', 'Minutes', 'Hours'].map((unit) => ({ requests: 7, unit })) } }
  const origins = { phase: 'PreRouting', cors: { allowOrigins: ['https://example.com'] } }
  objects = await createObjectsFolder({
    'all.yaml': joinYaml(
      gatewayYaml(8080),
      backendYaml('web', 9000),
      routeYaml('plain', '/', 'web'),
      routeYaml('limited', '/limited', 'web'),
      policyYaml('limits', 'HTTPRoute', 'limited', { traffic: limits }),
    ),
    'phase.yaml': policyYaml('early', 'Gateway', 'main', { traffic: origins }),
  })
})

afterAll(() => objects.remove())

async function explain(files: readonly string[], url: string): Promise<string> {
  return (await gatewright(['explain', ...files.flatMap((file) => ['-f', file]), url])).stdout
}

const CONNECTIONS = 'examples/connections'

test.each([
  [
    'tls://mail.example.com:18443',
    [
      'connection to mail.example.com:18443, server name mail.example.com',
      'relayed   TLS unchanged, to 127.0.0.1:9403',
    ],
  ],
  ['tls://127.0.0.1:18443', ['connection to 127.0.0.1:18443, without a server name']],
  ['https://mail.example.com:18443', ['connection to mail.example.com:18443, server name mail.example.com']],
  ['tcp://localhost:15432', ['connection to localhost:15432, without a server name', 'relayed   bytes unchanged, to ']],
])('the connection %s', async (url, lines) => {
  const text = await explain([CONNECTIONS], url)
  for (const line of lines) expect(text).toContain(line)
})

test.each([
  ['tcp://localhost:8080', 'no listener on port 8080 accepts this connection; listener http serves HTTP requests\n'],
  ['tls://localhost:9', 'no Gateway listens on port 9; listeners: 127.0.0.1:8080\n'],
])('no connection %s', async (url, text) => {
  expect(await explain([objects.path], url)).toBe(text)
})

test('a request that is malformed', async () => {
  const words = ['explain', '-f', objects.path, '-H', 'a b: c', 'http://localhost:8080/x']
  const { stdout, code } = await gatewright(words)
  expect([stdout, code]).toEqual([
    'GET http://localhost:8080/x\n\nresponse  400 malformed request (malformed-request)\n',
    1,
  ])
})

test('policies, their phase, and the units of limits', async () => {
  const plain = await explain([join(objects.path, 'all.yaml')], 'http://localhost:8080/')
  expect(plain).toContain('\npolicies  none\n')
  expect(await explain([objects.path], 'http://localhost:8080/')).toContain('\n  traffic.cors (PreRouting)\n')
  const limited = await explain([objects.path], 'http://localhost:8080/limited')
  expect(limited).toContain('\n  traffic.cors (PreRouting)\n')
  expect(limited).toContain('\n  traffic.rateLimit\n')
  const spans = [...limited.matchAll(/at most 7 requests within (.*),/g)].map(([, span]) => span)
  expect(spans).toEqual(['a second', 'a minute', 'an hour'])
})

test('a translated request has the route type of its client', async () => {
  const routes = { '/messages': 'Messages', '/chat/completions': 'Completions' }
  const backend = { ai: { provider: { providerOne: {} } }, policies: { ai: { routes } } }
  await objects.write(
    'models.yaml',
    joinYaml(
      `
apiVersion: gatewright.dev/v1alpha1
kind: ProxyBackend
metadata: { name: models }
spec: ${JSON.stringify(backend)}
`,
      routeYaml('models', '/v1/messages', 'models'),
    ),
  )
  const body = JSON.stringify({ model: 'gpt-4o', max_tokens: 9, messages: [{ role: 'user', content: 'Hi.' }] })
  const url = 'http://localhost:8080/v1/messages'
  const { stdout } = await gatewright(['explain', '-f', objects.path, '-d', body, 'POST', url])
  expect(stdout).toContain('llm       Messages to openai, model gpt-4o')
})
