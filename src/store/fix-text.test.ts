import { describe, expect, test } from 'vitest'
import { fixText, secretsInText } from './fix-text.ts'

const ROUTE = (spec: string) => `# A route.
apiVersion: gateway.networking.k8s.io/v1
kind: HTTPRoute
metadata: { name: shop }
spec: ${spec}
`

const specOf = (text: string) => text.split('\n')[4]!.slice('spec: '.length)

describe('a certain correction of a route', () => {
  test.each([
    [
      'a field',
      '{ hostnams: [a.example] } # here',
      '{ hostnames: [a.example] } # here',
      ['renamed hostnams to hostnames'],
    ],
    ['a field in quotes', `{ "hostnams": [], 'rulse': [] }`, `{ "hostnames": [], 'rules': [] }`, 2],
    [
      'a name of other products',
      '{ hosts: [a.example] }',
      '{ hostnames: [a.example] }',
      ['renamed hosts to hostnames'],
    ],
    ['a singular', '{ rules: [{ match: [] }] }', '{ rules: [{ matches: [] }] }', ['renamed match to matches']],
    ['one value of a list', '{ hostnames: a.example }', '{ hostnames: ["a.example"] }', ['made it a list']],
    [
      'both',
      '{ hostname: a.example }',
      '{ hostnames: ["a.example"] }',
      ['renamed hostname to hostnames', 'made it a list'],
    ],
    [
      'quotes',
      '{ parentRefs: [{ name: main, port: "80" }] }',
      '{ parentRefs: [{ name: main, port: 80 }] }',
      ['removed the quotes'],
    ],
    ['missing quotes', '{ parentRefs: [{ name: 0123 }] }', '{ parentRefs: [{ name: "0123" }] }', ['added quotes']],
    [
      'a word',
      '{ rules: [{ matches: [{ method: get }] }] }',
      '{ rules: [{ matches: [{ method: GET }] }] }',
      ['changed get to GET'],
    ],
    [
      'mistakes within mistakes',
      '{ rules: [{ matchs: [{ path: { typ: Exakt, value: /a } }] }] }',
      '{ rules: [{ matches: [{ path: { type: Exact, value: /a } }] }] }',
      3,
    ],
  ])('%s', (_, before, after, messages) => {
    const { text, fixes } = fixText(ROUTE(before))
    expect(text).toBe(ROUTE(after))
    if (typeof messages === 'number') expect(fixes).toHaveLength(messages)
    else expect(fixes.map(({ message }) => message)).toEqual(messages)
    expect(fixText(text)).toEqual({ text, fixes: [] })
  })

  test.each([
    ['a name with two meanings', '{ rules: [{ backendRefs: [{ nane: a, name: b }] }] }'],
    ['a field that is set, too', '{ hostnames: [a.example], hostname: b.example }'],
    ['two names with one meaning', '{ hostname: a.example, hostnams: [b.example] }'],
    ['a value of another form', '{ hostnams: { a: b } }'],
    ['a name that is not similar', '{ names: [a.example] }'],
    ['a field of another object', '{ rules: [{ hostnames: [a.example] }] }'],
    ['a word that is not similar', '{ rules: [{ matches: [{ path: { type: Suffix, value: /a } }] }] }'],
    ['a text that is no number', '{ parentRefs: [{ name: main, port: http }] }'],
    ['a number out of range', '{ parentRefs: [{ name: main, port: "99999999" }] }'],
    ['a block of text', '{}\n# no longer flow\nx: |\n  hostnams'],
  ])('none of %s', (_, spec) => {
    expect(fixText(ROUTE(spec))).toEqual({ text: ROUTE(spec), fixes: [] })
  })
})

const BACKEND = (spec: string) => `# A backend.
apiVersion: gatewright.dev/v1alpha1
kind: ProxyBackend
metadata: { name: llm }
spec: ${spec}
`

test.each([
  ['openai: { model: gpt-5 }', 'providerOne: { model: gpt-5 }'],
  ['Anthropic: {}', 'providerFour: {}'],
  ['bedrock: { region: eu-west-1 }', 'providerSeven: { region: eu-west-1 }'],
  ['azure: { endpoint: a.example }', 'providerTwo: { endpoint: a.example }'],
  [
    'azure: { resourceName: a, resourceType: openai }',
    'providerThree: { resourceName: a, resourceType: ResourceTypeOne }',
  ],
  ['google: { projectId: a }', 'providerSix: { projectId: a }'],
  ['google: { model: a }', undefined],
  ['azure: {}', undefined],
  ['mistral: {}', undefined],
  ['openai: {}, providerOne: {}', undefined],
  ['openai: { temperature: 1 }', undefined],
])('the name of a product: %s becomes %s', (before, after) => {
  const { text } = fixText(BACKEND(`{ ai: { provider: { ${before} } } }`))
  expect(text).toBe(BACKEND(`{ ai: { provider: { ${after ?? before} } } }`))
})

test('the name of a product as a value becomes ours', () => {
  const policies = (provider: string) => BACKEND(`{ policies: { mcp: { authentication: { provider: ${provider} } } } }`)
  expect(fixText(policies('"okta"')).text).toBe(policies('"IdpThree"'))
  expect(fixText(ROUTE('{ rules: [{ matches: [{ path: { type: startsWith } }] }] }')).fixes).toEqual([])
})

test.each([
  ['a kind', 'kind: HTTPRout', 'kind: HTTPRoute'],
  ['a group', 'apiVersion: gateway.networking.k8s.io/v1', 'apiVersion: gateway.networking.k8s.io/v1'],
  ['a misspelt group', 'apiVersion: gateways.networking.k8s.io/v1', 'apiVersion: gateway.networking.k8s.io/v1'],
  [
    'an unknown version',
    'apiVersion: gateway.networking.k8s.io/v3alpha7',
    'apiVersion: gateway.networking.k8s.io/v3alpha7',
  ],
])('identity: %s', (_, before, after) => {
  const [field = ''] = before.split(':')
  const replaced = ROUTE('{}').replace(new RegExp(`^${field}: .*$`, 'm'), before)
  expect(fixText(replaced).text).toBe(ROUTE('{}').replace(new RegExp(`^${field}: .*$`, 'm'), after))
})

test('the only version of a kind of ours', () => {
  const text =
    'apiVersion: gatewright.dev/v1\nkind: ProxyBackend\nmetadata: {name: a}\nspec: {static: {host: a.example, port: 80}}\n'
  expect(fixText(text).text).toBe(text.replace('/v1\n', '/v1alpha1\n'))
})

test('line ends, other documents, JSON and lists of objects stay as they are', () => {
  const route =
    '{"apiVersion":"gateway.networking.k8s.io/v1","kind":"HTTPRoute","metadata":{"name":"a"},"spec":{"hostnams":[]}}'
  const text = `a: 1   # other\r\n--- # second\r\n{"apiVersion":"v1","kind":"List","items":[\r\n${route}]}\r\n...\r\n`
  const { text: fixed, fixes } = fixText(text)
  expect(fixed).toBe(text.replace('hostnams', 'hostnames'))
  expect(fixes).toEqual([
    {
      line: 4,
      column: 97,
      object: 'HTTPRoute default/a',
      path: 'spec.hostnams',
      message: 'renamed hostnams to hostnames',
    },
  ])
})

test.each([
  ['does not parse', 'spec: { hostnams: [ }'],
  ['an alias leads to', `${ROUTE('*spec')}---\nx: 1`],
  ['a merge key leads to', ROUTE('{ <<: { hostnams: [a.example] } }')],
])('text that %s is unchanged', (_, text) => {
  expect(fixText(text)).toEqual({ text, fixes: [] })
})

test('what an anchor names is corrected where it is written', () => {
  const text = ROUTE('{ parentRefs: [&main { name: main, port: "80" }, *main] }')
  expect(specOf(fixText(text).text)).toBe('{ parentRefs: [&main { name: main, port: 80 }, *main] }')
})

test('secrets in a text are known although its objects are invalid', () => {
  const backend = `apiVersion: gatewright.dev/v1alpha1
kind: ProxyBackend
metadata: { name: llm }
spec: { nonsense: 1, policies: { auth: { key: inline-secret-key } } }
---
apiVersion: v1
kind: Secrt
metadata: { name: keys }
`
  const { lines, values } = secretsInText(backend)
  expect(values).toEqual(['inline-secret-key'])
  expect([...lines]).toEqual(expect.arrayContaining([6, 7, 8]))
})
