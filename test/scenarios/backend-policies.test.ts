import { expect, test } from 'vitest'
import type { Exchange } from '#exchange/exchange.ts'
import { linesOf } from '#policies/shared/testing.ts'
import { backendYaml, gatewayYaml, joinYaml, listenersYaml, routeYaml } from '#test/support/objects-folder.ts'
import { policyYaml } from '#test/support/policy-yaml.ts'
import { seeRequest } from '#test/support/see-request.ts'
import { verifies } from '#test/support/verifies.ts'

/** From objects to the requests that are sent: which settings of section `backend` apply where several objects have some. */

const CHAT = JSON.stringify({ model: 'm', messages: [{ role: 'user', content: 'hello' }] })

interface Sent {
  /** Lines of its head that policies of this file write. */
  readonly lines: readonly string[]
  readonly body: string
}

/** The requests to each endpoint of the backend that is chosen. */
async function sentTo(target: string, ...objects: readonly string[]): Promise<readonly Sent[]> {
  const yaml = joinYaml(gatewayYaml(8080), ...objects)
  const sent: Sent[] = []
  for (let at = 0; ; at++) {
    const { exchange, outcome, endpoints, attempt } = await seeRequest(yaml, { method: 'POST', target, body: CHAT })
    expect(outcome).toBeUndefined()
    expect(written(exchange), 'before the attempt').toEqual([])
    const endpoint = endpoints[at]
    if (endpoint === undefined) return sent
    expect(await attempt(endpoint)).toBeUndefined()
    sent.push({
      lines: written(exchange),
      body: exchange.newRequestBody === undefined ? CHAT : new TextDecoder().decode(exchange.newRequestBody),
    })
  }
}

function written(exchange: Exchange): string[] {
  return linesOf(exchange.request).filter((line) => /^(?:authorization|x-)/.test(line))
}

const says = (text: string) => ({ request: { set: [{ name: 'x-from', value: `"${text}"` }] } })

function backend(name: string, spec: object): string {
  return `
apiVersion: gatewright.dev/v1alpha1
kind: ProxyBackend
metadata: { name: ${name} }
spec: ${JSON.stringify(spec)}
`
}

const AT = { host: '127.0.0.1', port: 9000 }

verifies(
  ['backend/policies-merge', 'policy/backend-applies-on-connect'],
  'fields of the backend and of policies for it apply together, and only to the sent request',
  async () => {
    const objects = [
      backend('web', { static: AT, policies: { transformation: says('backend') } }),
      policyYaml('one', 'ProxyBackend', 'web', { backend: { auth: { key: 'policy' } } }),
      routeYaml('all', '/', 'web'),
    ]
    expect(await sentTo('/', ...objects)).toMatchObject([
      { lines: ['authorization: Bearer policy', 'x-from: backend'] },
    ])
  },
)

verifies('backend/policies-win', 'of one field, that of the backend applies', async () => {
  const objects = [
    backend('web', { static: AT, policies: { auth: { key: 'own' } } }),
    policyYaml('one', 'ProxyBackend', 'web', { backend: { auth: { key: 'policy' } } }),
    policyYaml('two', 'Gateway', 'main', { backend: { auth: { key: 'gateway' } } }),
    routeYaml('all', '/', 'web'),
  ]
  expect(await sentTo('/', ...objects)).toMatchObject([{ lines: ['authorization: Bearer own'] }])
})

verifies(
  'backend.ai.groups.providers/policies-merge-order',
  'policies of a provider apply before those of its backend, and these before a ProxyPolicy',
  async () => {
    const keys = { auth: { key: 'provider' } }
    const providers = [
      { name: 'own', providerOne: {}, policies: keys },
      { name: 'plain', providerOne: {} },
    ]
    const ofBackend = { auth: { key: 'backend' } }
    const policy = policyYaml('one', 'ProxyBackend', 'models', {
      backend: { auth: { key: 'policy' }, transformation: says('policy') },
    })
    const target = '/v1/chat/completions'
    const at = (spec: object) => sentTo(target, backend('models', spec), policy, routeYaml('all', '/', 'models'))
    const ai = { groups: [{ providers }] }
    expect(await at({ ai, policies: ofBackend })).toMatchObject([
      { lines: ['authorization: Bearer provider', 'x-from: policy'] },
      { lines: ['authorization: Bearer backend', 'x-from: policy'] },
    ])
    expect(await at({ ai })).toMatchObject([
      { lines: ['authorization: Bearer provider', 'x-from: policy'] },
      { lines: ['authorization: Bearer policy', 'x-from: policy'] },
    ])
  },
)

verifies(
  'policy/backend-higher-target-selects',
  'a policy of a Gateway or a route applies to all backends that its traffic goes to, and to no others',
  async () => {
    const objects = [
      listenersYaml('other', ['{ name: http, protocol: HTTP, port: 8081 }']),
      backendYaml('a', 9001),
      backendYaml('b', 9002),
      routeYaml('first', '/a', 'a'),
      routeYaml('second', '/b', 'b'),
      policyYaml('all', 'Gateway', 'main', { backend: { auth: { key: 'main' } } }),
      policyYaml('elsewhere', 'Gateway', 'other', { backend: { auth: { key: 'other' } } }),
      policyYaml('one', 'HTTPRoute', 'first', { backend: { transformation: says('route') } }),
    ]
    expect(await sentTo('/a', ...objects)).toMatchObject([{ lines: ['authorization: Bearer main', 'x-from: route'] }])
    expect(await sentTo('/b', ...objects)).toMatchObject([{ lines: ['authorization: Bearer main'] }])
  },
)

const OF_KIND = {
  ai: { defaults: [{ field: 'temperature', value: 0 }] },
  mcp: { authorization: { action: 'Deny', policy: { matchExpressions: ['true'] } } },
}

verifies(
  ['backend.ai/backends-of-kind-ai', 'backend.mcp/backends-of-kind-mcp'],
  'ai and mcp of a policy for a Gateway change nothing for backends of other kinds',
  async () => {
    const objects = [backendYaml('web', 9000), policyYaml('all', 'Gateway', 'main', { backend: OF_KIND })]
    expect(await sentTo('/', ...objects, routeYaml('all', '/', 'web'))).toEqual([{ lines: [], body: CHAT }])
  },
)

test('ai of the same policy applies to a backend of its kind', async () => {
  const models = backend('models', { ai: { provider: { providerOne: {} } } })
  const policy = policyYaml('all', 'Gateway', 'main', { backend: OF_KIND })
  const [sent] = await sentTo('/v1/chat/completions', models, policy, routeYaml('all', '/', 'models'))
  expect(JSON.parse(sent!.body)).toEqual({ ...JSON.parse(CHAT), temperature: 0 })
})

verifies(
  'backend.mcp.targets.static/policies-merge-order',
  'policies of an MCP target apply before those of its backend, and these before a ProxyPolicy',
  async () => {
    const targets = [
      { name: 'own', static: { ...AT, policies: { auth: { key: 'target' } } } },
      { name: 'plain', static: AT },
    ]
    const policy = policyYaml('one', 'ProxyBackend', 'tools', {
      backend: { auth: { key: 'policy' }, transformation: says('policy') },
    })
    const at = (spec: object) => sentTo('/mcp', backend('tools', spec), policy, routeYaml('all', '/', 'tools'))
    const mcp = { targets }
    expect(await at({ mcp, policies: { auth: { key: 'backend' } } })).toMatchObject([
      { lines: ['authorization: Bearer target', 'x-from: policy'] },
      { lines: ['authorization: Bearer backend', 'x-from: policy'] },
    ])
    expect(await at({ mcp })).toMatchObject([
      { lines: ['authorization: Bearer target', 'x-from: policy'] },
      { lines: ['authorization: Bearer policy', 'x-from: policy'] },
    ])
  },
)

/** The credential that a provider gets without a policy, which nothing obtains here. */
const ambient: [what: string, provider: object, sent: string | undefined][] = [
  [
    'Bedrock',
    { providerSeven: { region: 'us-west-2' } },
    'AWS4-HMAC-SHA256 Credential=not-obtained/<day>/us-west-2/bedrock/aws4_request, SignedHeaders=host;x-amz-date, Signature=<signature>',
  ],
  ['Vertex AI', { providerSix: { projectId: 'p' } }, 'Bearer not-obtained'],
  ['Azure OpenAI', { providerThree: { resourceName: 'r', resourceType: 'ResourceTypeOne' } }, 'Bearer not-obtained'],
  [
    'an endpoint of Azure',
    { providerTwo: { endpoint: 'https://r.openai.azure.com', apiVersion: 'v1' } },
    'Bearer not-obtained',
  ],
  ['an endpoint elsewhere', { providerTwo: { endpoint: 'https://llm.example.com', apiVersion: 'v1' } }, undefined],
  [
    'a private endpoint of AWS',
    { providerSeven: {}, host: 'vpce-1.bedrock-runtime.us-east-1.vpce.amazonaws.com' },
    expect.stringContaining('/us-east-1/bedrock/'),
  ],
  ['another host', { providerSeven: {}, host: '127.0.0.1', port: 9000 }, undefined],
  ['a host that only looks like one', { providerSeven: {}, host: 'evilamazonaws.com' }, undefined],
  ['a host without TLS', { providerSeven: {}, host: 'bedrock-runtime.us-east-1.amazonaws.com', port: 80 }, undefined],
  ['OpenAI', { providerOne: {} }, undefined],
]
for (const [what, provider, sent] of ambient) {
  verifies(
    'backend.auth.cloudOne/omitted',
    `without auth, ${what} gets credentials of its cloud from the environment`,
    async () => {
      const routes = { ai: { routes: { '*': 'Passthrough' } } }
      const objects = [backend('models', { ai: { provider }, policies: routes }), routeYaml('all', '/', 'models')]
      const { exchange, attempt, findings } = await seeRequest(joinYaml(gatewayYaml(8080), ...objects), {
        target: '/x',
      })
      expect(await attempt()).toBeUndefined()
      const hidden = exchange.request
        .get('authorization')
        ?.replace(/\d{8}/, '<day>')
        .replace(/[0-9a-f]{64}$/, '<signature>')
      expect(hidden).toEqual(sent)
      expect(findings.filter(({ severity }) => severity === 'error')).toEqual([])
    },
  )
}

test('a policy replaces the credentials of the cloud', async () => {
  const policies = { ai: { routes: { '*': 'Passthrough' } }, auth: { key: 'own' } }
  const objects = [
    backend('models', { ai: { provider: { providerSeven: {} } }, policies }),
    routeYaml('all', '/', 'models'),
  ]
  const { exchange, attempt } = await seeRequest(joinYaml(gatewayYaml(8080), ...objects))
  expect(await attempt()).toBeUndefined()
  expect(linesOf(exchange.request)).toEqual(['authorization: Bearer own'])
})
