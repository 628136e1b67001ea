import { expect, test } from 'vitest'
import { specFrom } from '#policies/shared/testing.ts'
import { compile, refused, type Setup, sent } from '#test/support/prepare-llm.ts'
import { verifies } from '#test/support/verifies.ts'
import { FORMATS, findTranslation } from '../dialects/index.ts'
import type { RouteType } from '../settings/policy-schema.ts'
import { llmProvider } from '../settings/provider-schema.ts'
import type { ClientFormat } from '../settings/route-type.ts'
import type { Credential } from './provider.ts'
import { buildProvider, providerDestination } from './providers.ts'

const providerFrom = (written: object) => specFrom(llmProvider, written)
const project = { resourceName: 'res', resourceType: 'ResourceTypeTwo', projectName: 'my proj' } as const
const resource = { resourceName: 'my-resource', resourceType: 'ResourceTypeOne' } as const

const systems: [spec: object, system: string, host: string][] = [
  [{ providerOne: {} }, 'openai', 'api.openai.com'],
  [{ providerTwo: { endpoint: 'a.openai.azure.com' } }, 'azure', 'a.openai.azure.com'],
  [{ providerThree: resource }, 'azure', 'my-resource.openai.azure.com'],
  [{ providerThree: project }, 'azure', 'res.services.ai.azure.com'],
  [{ providerFour: {} }, 'anthropic', 'api.anthropic.com'],
  [{ providerFive: {} }, 'gcp.gemini', 'generativelanguage.googleapis.com'],
  [{ providerSix: { projectId: 'p' } }, 'gcp.vertex_ai', 'aiplatform.googleapis.com'],
  [{ providerSix: { projectId: 'p', region: 'eu' } }, 'gcp.vertex_ai', 'aiplatform.eu.rep.googleapis.com'],
  [{ providerSix: { projectId: 'p', region: 'us-west1' } }, 'gcp.vertex_ai', 'us-west1-aiplatform.googleapis.com'],
  [{ providerSeven: {} }, 'aws.bedrock', 'bedrock-runtime.us-east-1.amazonaws.com'],
  [{ providerSeven: { region: 'eu-west-1' } }, 'aws.bedrock', 'bedrock-runtime.eu-west-1.amazonaws.com'],
]

verifies(
  [
    'backend.ai.provider/host-default',
    'backend.ai.providerThree/host-resource-type-one',
    'backend.ai.providerThree/host-resource-type-two',
    'backend.ai.providerThree/resource-ending-kept',
  ],
  'names and hosts of the providers',
  () => {
    for (const [spec, system, host] of systems) {
      expect(buildProvider(providerFrom(spec)).system).toBe(system)
      expect(providerDestination(providerFrom(spec))).toMatchObject({ host, port: 443, tls: true })
    }
  },
)

verifies(
  ['backend.ai.provider/host', 'backend.ai.provider/port'],
  'host and port, alone and together (B10, B11)',
  () => {
    const one = (fields: object) => providerDestination(providerFrom({ providerOne: {}, ...fields }))
    expect(one({ host: '127.0.0.1', port: 9111 })).toEqual({ host: '127.0.0.1', port: 9111, tls: false })
    expect(one({ host: 'llm.example' })).toEqual({ host: 'llm.example', port: 443, tls: true })
    expect(one({ host: 'llm.example', port: 443 })).toEqual({ host: 'llm.example', port: 443, tls: true })
    expect(one({ port: 8443 })).toEqual({ host: 'api.openai.com', port: 8443, tls: true })
  },
)

test.each<[provider: object, ambient: string | undefined]>([
  [{ providerOne: {} }, undefined],
  [{ providerFour: {} }, undefined],
  [{ providerTwo: { endpoint: 'a.openai.azure.com' } }, 'cloudTwo'],
  [{ providerTwo: { endpoint: 'models.corp.example' } }, undefined],
  [{ providerThree: resource }, 'cloudTwo'],
  [{ providerThree: project, host: 'private.services.ai.azure.com' }, 'cloudTwo'],
  [{ providerThree: resource, host: 'llm.example' }, undefined],
  [{ providerThree: resource, host: 'azure.com' }, undefined],
  [{ providerThree: resource, host: 'xazure.com' }, undefined],
  // The clouds of others can have customers who collect tokens.
  [{ providerThree: resource, host: 'x.execute-api.us-east-1.amazonaws.com' }, undefined],
  [{ providerSeven: {}, host: 'x.openai.azure.com' }, undefined],
  [{ providerSix: { projectId: 'p' }, host: 'vpce-1.bedrock-runtime.us-east-1.vpce.amazonaws.com' }, undefined],
  [{ providerSeven: {}, host: 'vpce-1.bedrock-runtime.us-east-1.vpce.amazonaws.com' }, 'cloudOne'],
  [{ providerSeven: {}, host: 'bedrock-runtime.us-east-1.api.aws' }, 'cloudOne'],
  [{ providerSix: { projectId: 'p' }, host: 'private.googleapis.com' }, 'cloudThree'],
  // Not in plain text.
  [{ providerSeven: {}, host: 'bedrock-runtime.us-east-1.amazonaws.com', port: 80 }, undefined],
])('%j uses the credentials of the environment for %s (B12)', (provider, ambient) => {
  expect(providerDestination(providerFrom(provider)).ambient).toBe(ambient)
})

verifies(
  ['backend.ai.providerTwo/endpoint', 'backend.ai.providerTwo/endpoint-scheme'],
  'the endpoint is the host, without scheme and slash, with its port',
  () => {
    const host = (endpoint: string) => providerDestination(providerFrom({ providerTwo: { endpoint } }))
    expect(host('https://a.openai.azure.com/')).toMatchObject({ host: 'a.openai.azure.com', port: 443, tls: true })
    expect(host('models.corp.example:8443')).toMatchObject({ host: 'models.corp.example', port: 8443, tls: true })
    expect(host('https://[::1]:8443')).toMatchObject({ host: '[::1]', port: 8443, tls: true })
  },
)

const as = (type: RouteType): Setup => ({ ai: { routes: { '*': type } } })
const two = { endpoint: 'h', deploymentName: 'dep/1' }

const paths: [type: RouteType, provider: object, path: string][] = [
  ['Completions', { providerTwo: two }, '/openai/v1/chat/completions'],
  ['Responses', { providerTwo: { ...two, apiVersion: 'preview' } }, '/openai/v1/responses?api-version=preview'],
  [
    'Completions',
    { providerTwo: { ...two, apiVersion: '2024-10-21' } },
    '/openai/deployments/dep%2F1/chat/completions?api-version=2024-10-21',
  ],
  ['Responses', { providerTwo: { ...two, apiVersion: '2024-10-21' } }, '/openai/responses?api-version=2024-10-21'],
  ['Embeddings', { providerThree: resource }, '/openai/v1/embeddings'],
  [
    'Embeddings',
    { providerThree: { ...resource, apiVersion: '2024-10-21' } },
    '/openai/deployments/m/embeddings?api-version=2024-10-21',
  ],
  ['Completions', { providerThree: project }, '/api/projects/my%20proj/openai/v1/chat/completions'],
  ['Messages', { providerThree: { ...project, model: 'Claude-x' } }, '/anthropic/v1/messages'],
  ['MessagesTokenCount', { providerThree: { ...project, model: 'claude-x' } }, '/anthropic/v1/messages/count_tokens'],
  ['Embeddings', { providerThree: { ...project, model: 'claude-x' } }, '/api/projects/my%20proj/openai/v1/embeddings'],
  // The version does not change paths of a project.
  [
    'Responses',
    { providerThree: { ...project, apiVersion: '2024-10-21' } },
    '/api/projects/my%20proj/openai/v1/responses',
  ],
  ['Completions', { providerThree: { ...resource, apiVersion: 'v1' } }, '/openai/v1/chat/completions'],
  [
    'Embeddings',
    { providerThree: { ...resource, apiVersion: 'preview' } },
    '/openai/v1/embeddings?api-version=preview',
  ],
  [
    'Responses',
    { providerThree: { ...resource, apiVersion: '2024-10-21' } },
    '/openai/responses?api-version=2024-10-21',
  ],
  [
    'Completions',
    { providerThree: { ...resource, apiVersion: '2024-10-21', model: 'dep' } },
    '/openai/deployments/dep/chat/completions?api-version=2024-10-21',
  ],
  // Any host has the paths of a resource.
  ['Completions', { providerTwo: { endpoint: 'https://x.services.ai.azure.com/api' } }, '/openai/v1/chat/completions'],
  ['Messages', { providerFour: {} }, '/v1/messages'],
  ['Responses', { providerOne: {}, pathPrefix: '/p' }, '/p/responses'],
  ['Embeddings', { providerOne: {}, pathPrefix: '/' }, '/embeddings'],
  ['Completions', { providerOne: {}, host: 'h.example', pathPrefix: '/p' }, '/p/chat/completions'],
  ['Completions', { providerOne: {}, path: '/own', pathPrefix: '/p' }, '/own'],
  ['MessagesTokenCount', { providerFour: {}, path: '/own' }, '/own'],
  ['Messages', { providerFour: {}, pathPrefix: 'proxy/v1/' }, '/proxy/v1/messages'],
  ['MessagesTokenCount', { providerFour: {} }, '/v1/messages/count_tokens'],
  ['Completions', { providerFive: {} }, '/v1beta/openai/chat/completions'],
  ['Embeddings', { providerFive: {} }, '/v1beta/openai/embeddings'],
  ['Completions', { providerFive: {}, host: 'localhost', port: 1 }, '/v1beta/openai/chat/completions'],
  ['Completions', { providerOne: {}, path: 'my chat#1' }, '/my%20chat%231'],
]
verifies(
  [
    'backend.ai.provider/path-default',
    'backend.ai.providerTwo/apiVersion-default',
    'backend.ai.providerThree/apiVersion-default',
    'backend.ai.providerThree/projectName-path',
    'backend.ai.provider/providerTwo',
    'backend.ai.provider/providerThree',
    'backend.ai.provider/providerFour',
    'backend.ai.provider/providerFive',
    'llm.routes/messages',
  ],
  'paths of the formats that a provider speaks',
  () => {
    for (const [type, provider, path] of paths) {
      expect(sent('{"model":"m"}', { ...as(type), provider }).path).toBe(path)
    }
  },
)

test('with a host alone, the path is still that of the provider, not that of the client', () => {
  const hosts = [{ host: 'h.example' }, { host: 'h.example', port: 8080 }]
  // With a body of another form, the query of the client is not theirs.
  const translated = [
    ['Completions', { providerSeven: {} }, '/model/m/converse'],
    ['Embeddings', { providerSeven: {} }, '/model/m/invoke'],
    [
      'Embeddings',
      { providerSix: { projectId: 'p' } },
      '/v1/projects/p/locations/global/publishers/google/models/m:predict',
    ],
    // Translated.
    ['Messages', { providerOne: {} }, '/v1/chat/completions'],
    ['Responses', { providerFour: {} }, '/v1/messages'],
  ] as const
  const body = '{"model":"m","max_tokens":1,"messages":[{"role":"user","content":"a"}],"input":"a"}'
  for (const [type, provider, path] of [...paths, ...translated]) {
    const query = translated.some(([, other]) => other === provider) ? '' : `${path.includes('?') ? '&' : '?'}a=b`
    for (const host of hosts) {
      const { path: actual } = sent(body, { ...as(type), provider: { ...provider, ...host }, target: '/mine/v9?a=b' })
      expect(actual).toBe(`${path}${query}`)
    }
  }
})

test("a parameter of the provider's path cannot be changed from outside (B13)", () => {
  const provider = { providerTwo: { ...two, apiVersion: 'preview' } }
  const target = '/x?api%2Dversion=old&api-version=older&API-Version=oldest&a=b'
  expect(sent('{"model":"m"}', { provider, target }).path).toBe('/openai/v1/chat/completions?api-version=preview&a=b')
})

test('a model cannot lead out of the path that it is part of', () => {
  const provider = { providerThree: { ...resource, apiVersion: '2024-10-21' } }
  for (const model of ['', '.', '..', '\\ud800', '../x?y#z', 'a/../b', 'a\\\\..', './a', '\\u0000']) {
    expect(refused(`{"model":"${model}"}`, { provider }).code).toBe('llm-body-invalid')
  }
  expect(sent('{"model":"org/x?y#z..."}', { provider }).path).toBe(
    '/openai/deployments/org%2Fx%3Fy%23z.../chat/completions?api-version=2024-10-21',
  )
})

const pinned: object[] = [
  { providerOne: { model: 'pin' } },
  { providerTwo: { endpoint: 'h', deploymentName: 'pin' } },
  { providerThree: { ...resource, model: 'pin' } },
  { providerFive: { model: 'pin' } },
]
verifies(
  ['backend.ai.providerOne/model', 'backend.ai.providerThree/model', 'backend.ai.providerFive/model'],
  'a configured model replaces that of the request',
  () => {
    for (const provider of pinned) {
      const { text, facts } = sent('{"model":"asked"}', { provider })
      expect(text).toBe('{"model":"pin"}')
      expect(facts?.requestModel).toBe('pin')
    }
  },
)

verifies('backend.ai.providerFour/model', 'provider four too', () => {
  const setup = { ...as('Messages'), provider: { providerFour: { model: 'pin' } } }
  expect(sent('{"model":"asked","max_tokens":9}', setup).text).toBe('{"model":"pin","max_tokens":9}')
})

verifies(
  ['backend.ai.provider/model-from-request', 'backend.ai.providerTwo/model-in-request'],
  'without one the model of the request stays',
  () => {
    for (const provider of [{ providerOne: {} }, { providerTwo: { endpoint: 'h' } }, { providerThree: resource }]) {
      expect(sent('{"model":"asked"}', { provider }).text).toBe('{"model":"asked"}')
    }
  },
)

const KEY: Credential = { source: 'key', location: 'usual' }
const bearer = { authorization: 'Bearer sk-1' }

const messagesHeaders: [
  name: string,
  headers: object,
  credential: Credential | undefined,
  set: object,
  remove: string[],
][] = [
  ['nothing sent', {}, undefined, { 'anthropic-version': '2023-06-01' }, []],
  ['a newer version stays', { 'anthropic-version': '2030-01-01' }, undefined, {}, []],
  ['configured key', bearer, KEY, { 'anthropic-version': '2023-06-01', 'x-api-key': 'sk-1' }, ['authorization']],
  [
    "the client's own",
    bearer,
    undefined,
    { 'anthropic-version': '2023-06-01', 'x-api-key': 'sk-1' },
    ['authorization'],
  ],
  ['explicit location', bearer, { ...KEY, location: 'elsewhere' }, { 'anthropic-version': '2023-06-01' }, []],
  [
    'explicit Authorization',
    { ...bearer, 'x-api-key': 'of the client' },
    { ...KEY, location: 'authorization' },
    { 'anthropic-version': '2023-06-01' },
    ['x-api-key'],
  ],
  ['OAuth', { authorization: 'bearer sk-ant-oat01' }, KEY, { 'anthropic-version': '2023-06-01' }, ['x-api-key']],
  [
    'browser',
    { origin: 'x', 'sec-fetch-mode': 'cors' },
    undefined,
    { 'anthropic-version': '2023-06-01' },
    ['origin', 'sec-fetch-mode'],
  ],
]
for (const [name, headers, credential, set, remove] of messagesHeaders) {
  test(`headers of provider four: ${name} (B20)`, () => {
    const setup = { provider: { providerFour: {} }, headers: { ...headers }, ...(credential && { credential }) }
    for (const type of ['Passthrough', 'Detect', 'Messages'] as const) {
      const edits = sent('{"model":"m"}', { ...setup, ...as(type) }).headers
      expect(Object.fromEntries(edits.set)).toEqual(set)
      expect(edits.remove.filter((field) => field !== 'accept-encoding')).toEqual(remove)
    }
  })
}

test('keys for providers two and three (B16)', () => {
  const headers = (provider: object, credential?: Credential, type: RouteType = 'Completions') =>
    sent('{"model":"claude-x"}', { ...as(type), provider, headers: bearer, ...(credential && { credential }) }).headers
  expect(headers({ providerTwo: { endpoint: 'h' } }, KEY).set).toEqual([['api-key', 'sk-1']])
  expect(headers({ providerThree: resource }, { ...KEY, location: 'elsewhere' }).set).toEqual([])
  expect(headers({ providerThree: resource }, { source: 'token', location: 'usual' }).set).toEqual([])
  expect(headers({ providerThree: resource }).set).toEqual([])
  const moved = headers({ providerThree: project }, KEY, 'Messages')
  expect(moved).toEqual({
    set: [
      ['anthropic-version', '2023-06-01'],
      ['x-api-key', 'sk-1'],
    ],
    remove: ['authorization', 'accept-encoding'],
  })
})

const TOKEN: Credential = { source: 'token', location: 'usual' }
const KEYS = { 'api-key': 'c1', 'x-api-key': 'c2', 'x-goog-api-key': 'c3' }
const two24 = { providerTwo: { endpoint: 'h', deploymentName: 'd', apiVersion: '2024-10-21' } }
const google = { providerSix: { projectId: 'p' }, host: 'h.example' }
const five = { providerFive: {} }
const native = { ...as('Passthrough'), target: '/v1beta/models/gemini-x:generateContent' }
const moved = { set: [['x-goog-api-key', 'AIza1']], remove: ['authorization'] }

test.each<
  [name: string, provider: object, credential: Credential | undefined, setup: Setup, set: string[][], remove: string[]]
>([
  ['two, key', two24, KEY, {}, [['api-key', 'sk-1']], []],
  ['two, explicit', two24, { ...KEY, location: 'authorization' }, {}, [], ['api-key']],
  ['two, token', two24, TOKEN, {}, [], ['api-key']],
  ['two, none', two24, undefined, {}, [], []],
  ['two, elsewhere', two24, { ...KEY, location: 'elsewhere' }, {}, [], []],
  // From the environment of the gateway.
  ['three, none', { providerThree: resource }, undefined, {}, [], ['api-key']],
  ['three, own host', { providerThree: resource, host: 'h.example' }, undefined, {}, [], []],
  ['project', { providerThree: project }, TOKEN, as('Completions'), [], ['api-key']],
  [
    'project, key for messages',
    { providerThree: project },
    KEY,
    as('Messages'),
    [
      ['anthropic-version', '2023-06-01'],
      ['x-api-key', 'sk-1'],
    ],
    ['authorization', 'api-key'],
  ],
  [
    'project, token for messages',
    { providerThree: project },
    TOKEN,
    as('Messages'),
    [['anthropic-version', '2023-06-01']],
    ['api-key', 'x-api-key'],
  ],
  ['five', five, KEY, {}, [], ['x-goog-api-key']],
  ['five, none', five, undefined, {}, [], []],
  ['five, elsewhere', five, { ...KEY, location: 'elsewhere' }, {}, [], []],
  ['five, native', five, KEY, native, [], ['x-goog-api-key']],
  ['five, native, key', five, KEY, { ...native, headers: { authorization: 'Bearer AIza1' } }, moved.set, moved.remove],
  [
    'five, native, own',
    five,
    undefined,
    { ...native, headers: { authorization: 'Bearer AIza1' } },
    moved.set,
    moved.remove,
  ],
  ['five, chat, key', five, KEY, { headers: { authorization: 'Bearer AIza1' } }, [], ['x-goog-api-key']],
  [
    'five, native, explicit',
    five,
    { ...KEY, location: 'authorization' },
    { ...native, headers: { authorization: 'Bearer AIza1' } },
    [],
    ['x-goog-api-key'],
  ],
  ['six', google, TOKEN, {}, [], ['x-goog-api-key']],
  ['six, from the environment', { providerSix: { projectId: 'p' } }, undefined, {}, [], ['x-goog-api-key']],
  ['six, none', google, undefined, {}, [], []],
])('keys of the client that compete with that of the gateway: %s', (_, provider, credential, setup, set, remove) => {
  const headers = { ...bearer, ...KEYS, ...setup.headers }
  const given = { ...setup, provider, headers, ...(credential && { credential }) }
  const model = setup.ai?.routes?.['*'] === 'Messages' ? 'claude-x' : 'm'
  const edits = sent(JSON.stringify({ model }), given).headers
  expect(edits.set).toEqual(set)
  expect(edits.remove.filter((name) => name !== 'accept-encoding')).toEqual(remove)
})

test('without a credential in Authorization, the keys of the client pass', () => {
  const edits = sent('{"model":"m"}', { provider: two24, credential: TOKEN, headers: KEYS }).headers
  expect(edits).toEqual({ set: [], remove: ['accept-encoding'] })
})

test.each(systems)('whatever %j wants can be made of every format', (spec) => {
  const provider = buildProvider(providerFrom(spec))
  const formats = Object.keys(FORMATS) as ClientFormat[]
  const models = [
    'gpt-5',
    'claude-opus-5',
    'anthropic.claude-opus-5',
    'gemini-3-pro',
    'amazon.nova-pro',
    'cohere.embed-v4',
  ]
  for (const format of formats) {
    for (const model of models) {
      const conversion = provider.convert(format, model, true)
      const needed = conversion.kind === 'send' && conversion.dialect !== FORMATS[format].dialect
      if (needed) expect(findTranslation(format, conversion.dialect), `${format} ${model}`).toBeDefined()
    }
  }
})

test('a type that a provider does not support is reported, and refused', () => {
  const setup = { ...as('Embeddings'), provider: { providerFour: {} } }
  expect(refused('{"model":"m"}', setup).code).toBe('llm-unsupported')
  expect(compile({ provider: setup.provider }, setup).problems).toEqual(['.routes["*"]: unsupported-conversion'])
})

test('a configured path that no request may have is reported', () => {
  expect(compile({ provider: { providerOne: {}, path: '/v1/../x?a=/../b' } }).problems).toEqual([
    '.provider.path: path-invalid',
  ])
  expect(compile({ provider: { providerOne: {}, pathPrefix: 'a/%zz' } }).problems).toEqual([
    '.provider.pathPrefix: path-invalid',
  ])
  expect(compile({ provider: { providerOne: {}, path: 'v1/%2F?a=/../b' } }).problems).toEqual([])
})

verifies(
  'backend.ai.provider/pathPrefix-providers',
  'a prefix elsewhere is refused, one without effect reported',
  () => {
    expect(() => compile({ provider: { providerFive: {}, pathPrefix: '/x' } })).toThrow('provider.pathPrefix')
    expect(compile({ provider: { providerOne: {}, pathPrefix: '/x', path: '/y' } }).problems).toEqual([
      '.provider.pathPrefix: no-effect',
    ])
  },
)

verifies('backend.ai.groups/priority-order', 'groups keep their order', () => {
  const named = (name: string) => ({ name, providerOne: {} })
  const { plan } = compile({ groups: [{ providers: [named('a'), named('b')] }, { providers: [named('c')] }] })
  expect(plan.providers.map(({ name }) => name)).toEqual(['a', 'b', 'c'])
  expect(plan.groups).toEqual([[0, 1], [2]])
})

test('a project or region that cannot be part of a path or host is reported', () => {
  const problems = (platform: object) => compile({ provider: { providerSix: platform } }).problems
  expect(problems({ projectId: 'my-project', region: 'us-east1' })).toEqual([])
  expect(problems({ projectId: 'example.com:my-project' })).toEqual([])
  expect(problems({ projectId: 'a/b', region: 'us.evil' })).toEqual([
    '.provider.providerSix.projectId: invalid-identifier',
    '.provider.providerSix.region: invalid-region',
  ])
})

test('a guardrail that no service has is reported', () => {
  const problems = (guardrail: object) => compile({ provider: { providerSeven: { guardrail } } }).problems
  expect(problems({ identifier: 'ab12cd34ef56', version: 'DRAFT' })).toEqual([])
  expect(problems({ identifier: 'arn:aws:bedrock:us-east-1:123456789012:guardrail/ab12', version: '3' })).toEqual([])
  expect(problems({ identifier: 'My Guardrail', version: 'latest' })).toEqual([
    '.provider.providerSeven.guardrail.identifier: invalid-identifier',
    '.provider.providerSeven.guardrail.version: invalid-identifier',
  ])
})

test('providers that share settings report once', () => {
  const unfit = { providerThree: { ...resource, apiVersion: '2024-10-21', model: '..' } }
  const groups = [
    {
      providers: [
        { name: 'a', ...unfit },
        { name: 'b', ...unfit },
      ],
    },
  ]
  expect(compile({ groups }, as('Completions')).problems).toEqual(['.routes["*"]: model-unfit'])
  expect(compile({ groups }).problems).toEqual([
    '.groups[0].providers[0]: model-unfit',
    '.groups[0].providers[1]: model-unfit',
  ])
})
