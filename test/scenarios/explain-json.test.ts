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
let file: string

beforeAll(async () => {
  const limits = { rateLimit: { local: [{ requests: 7, unit: 'Minutes' }] } }
  const keys = { apiKeyAuthentication: { secretRef: { name: 'keys' } } }
  objects = await createObjectsFolder({
    'all.yaml': joinYaml(
      gatewayYaml(8080),
      backendYaml('web', 9000),
      routeYaml('plain', '/', 'web'),
      routeYaml('kept', '/kept', 'web'),
      policyYaml('limits', 'HTTPRoute', 'kept', { traffic: limits }),
      policyYaml('keys', 'HTTPRoute', 'kept', { traffic: keys }),
      '\napiVersion: v1\nkind: Secret\nmetadata: { name: keys }\nstringData: { alice: secret-of-alice }\n',
    ),
  })
  file = join(objects.path, 'all.yaml')
})

afterAll(() => objects.remove())

async function explainJson(words: readonly string[], files = file) {
  const { code, stdout, stderr } = await gatewright(['explain', '-f', files, '-o', 'json', ...words])
  expect(stderr).toBe('')
  return { code, stdout, found: JSON.parse(stdout) }
}

// The shape is that of docs/behaviour/lint-and-explain.md: scripts depend on it.

test('a request that is forwarded', async () => {
  const { code, found, stdout } = await explainJson([
    'http://localhost:8080/kept/x?api_key=in-the-query',
    '-H',
    'authorization: Bearer secret-of-alice',
  ])
  expect(code).toBe(0)
  expect(stdout).not.toMatch(/secret-of-alice|in-the-query/)
  const { message, ...outcome } = found.outcome
  expect({ ...found, outcome }).toEqual({
    kind: 'request',
    method: 'GET',
    url: 'http://localhost:8080/kept/x?api_key=<redacted>',
    path: { received: '/kept/x', matched: '/kept/x' },
    listener: {
      object: 'Gateway default/main',
      file,
      line: 7,
      name: 'http',
      protocol: 'HTTP',
      address: '127.0.0.1',
      port: 8080,
      hostname: '',
    },
    route: { object: 'HTTPRoute default/kept', file, line: 31, rule: 0, match: 'under prefix /kept' },
    nearMisses: [
      {
        object: 'HTTPRoute default/plain',
        file,
        line: 22,
        rule: 0,
        match: 'under prefix /',
        why: 'also matches; longer prefixes come first',
        pathMatches: true,
      },
    ],
    policies: [
      {
        field: 'traffic.apiKeyAuthentication',
        phase: 'PostRouting',
        sources: [
          {
            object: 'ProxyPolicy default/keys',
            file,
            line: 42,
            path: 'spec.traffic.apiKeyAuthentication',
            level: 'Route',
          },
        ],
        overridden: [],
      },
      {
        field: 'traffic.rateLimit',
        phase: 'PostRouting',
        sources: [
          { object: 'ProxyPolicy default/limits', file, line: 37, path: 'spec.traffic.rateLimit', level: 'Route' },
        ],
        overridden: [],
      },
    ],
    steps: [
      { stage: 'post-routing', name: 'apiKeyAuthentication', verdict: 'proceed', notes: [] },
      { stage: 'post-routing', name: 'rateLimit', verdict: 'proceed', notes: [] },
    ],
    consumer: 'default/keys/alice',
    callouts: [],
    limits: [{ unit: 'requests', capacity: 7, intervalMs: 60_000 }],
    backends: [{ key: 'ProxyBackend/default/web', weight: 1, chosen: true }],
    endpoints: [{ label: '127.0.0.1:9000', priority: 1, chosen: true }],
    protocol: [],
    outcome: { kind: 'forwarded', http: 'http1' },
  })
  expect(message).toMatch(/^GET \/kept\/x\?api_key=<redacted> HTTP\/1\.1\r\n/)
})

test.each([
  [
    'http://localhost:8080/kept',
    { kind: 'refused', status: 401, code: 'api-key-missing', text: 'authentication required' },
  ],
  [
    'http://localhost:8081/',
    { kind: 'unreachable', message: 'no Gateway listens on port 8081; listeners: 127.0.0.1:8080' },
  ],
  [
    'https://localhost:8080/kept',
    { kind: 'unreachable', message: 'port 8080 (http) accepts no TLS connections; write http://' },
  ],
  [
    'tcp://localhost:8080',
    {
      kind: 'unreachable',
      message: 'no listener on port 8080 accepts this connection; listener http serves HTTP requests',
    },
  ],
])('%s is refused', async (url, outcome) => {
  const { code, found } = await explainJson([url])
  expect(code).toBe(1)
  expect(found.outcome).toEqual(outcome)
})

test('a connection', async () => {
  const { code, found } = await explainJson(['tls://mail.example.com:18443'], 'examples/connections')
  expect(code).toBe(0)
  expect(found).toMatchObject({
    kind: 'connection',
    url: 'tls://mail.example.com:18443',
    serverName: 'mail.example.com',
    listener: { protocol: 'TLS', port: 18_443 },
    outcome: { kind: 'relayed', to: '127.0.0.1:9403', unchanged: 'TLS' },
  })
  expect(found).not.toHaveProperty('steps')
})

test('a form of the output that does not exist is a usage error', async () => {
  const words = ['explain', '-f', file, '-o', 'xml', 'http://localhost:8080/']
  expect(await gatewright(words)).toEqual({
    code: 2,
    stdout: '',
    stderr: 'gatewright: --output is xml; it must be text or json\n',
  })
})
