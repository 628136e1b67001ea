import { expect, test } from 'vitest'
import { childrenOf, type FoundField, findField, findProducts, pathText } from '#api/find-field.ts'
import { KINDS } from '#api/kinds.ts'
import { describeType, nodeOf } from '#schema/index.ts'
import { gatewright } from '#test/support/command-line.ts'
import { describeField } from './fields.ts'
import { exampleOf } from './policy-example.ts'

function found(path: string): FoundField {
  const field = findField(path)
  if ('message' in field) throw new Error(field.message)
  return field
}

test('a policy: rules, fields and example', () => {
  const text = describeField(found('ProxyPolicy.spec.traffic.rateLimit')).join('\n')
  expect(text).toContain('  rule      At least one of local, global must be set.')
  expect(text).toMatch(/^ {2}local {8}Limits that each proxy instance .* \(list of objects, 1 to 16 items\)$/m)
  expect(text).toContain('Example (src/policies/traffic/rate-limit/example.yaml):')
  expect(text).toContain('          - requests: 100\n')
})

test('a field of a policy refers to the example of the policy', () => {
  expect(describeField(found('ProxyPolicy.spec.traffic.cors.allowOrigins')).at(-1)).toBe(
    'Example: src/policies/traffic/cors/example.yaml',
  )
})

test.each([
  ['ProxyPolicy.spec.traffic.rateLimit.local[0].requests', 'integer, at least 1'],
  ['proxypolicy.spec.traffic.rateLimit.local.unit', 'one of Seconds, Minutes, Hours'],
  ['ppolicy.spec.traffic.timeouts.request', /^duration, such as 500ms or 1m30s; at least \d+m?s$/],
  ['ProxyPolicy.spec.traffic.authorization.policy.matchExpressions', /^list of CEL expression/],
  ['ProxyBackend.spec.static.port', 'integer, 1 to 65535'],
  ['Secret.stringData', 'map from names to texts'],
  ['Secret.stringData.anything', 'text'],
  ['ProxyBackend.spec.ai.groups[0].providers[1].name', 'name of a section, 1 to 253 characters'],
])('the type of %s', (path, expected) => {
  const type = describeType(found(path).node)
  if (typeof expected === 'string') expect(type).toBe(expected)
  else expect(type).toMatch(expected)
})

test('a default, a secret and a required field are marked', () => {
  expect(describeField(found('ProxyPolicy.spec.traffic.csrf')).join('\n')).not.toMatch(/default|secret/)
  expect(describeField(found('ProxyPolicy.spec.backend.auth.key')).join('\n')).toContain('secret    yes')
  expect(describeField(found('ProxyBackend.spec.ai.provider.providerSeven.region')).join('\n')).toMatch(
    /default +"us-east-1"/,
  )
  expect(describeField(found('HTTPRoute.spec.rules.filters.type')).join('\n')).toMatch(/required +yes/)
})

test('the statements of the specification, marked if not implemented yet', () => {
  expect(describeField(found('ProxyPolicy.spec.backend.tls.verifySubjectAltNames')).join('\n')).toContain(
    '\nSpecification:\n  `verifySubjectAltNames` has 1 to 16 items.\n',
  )
  const lines = describeField(found('ProxyParameters.spec.mesh.additionalTrustDomains'))
  expect(lines).toContain('  effect    not implemented yet')
  const at = lines.indexOf('Specification ("not yet": not implemented, or proved by no test):')
  expect(lines.slice(at + 1, at + 3)).toEqual([
    '           `mesh.additionalTrustDomains` is a list of strings.',
    '  not yet  `mesh.additionalTrustDomains` are SPIFFE domains that inbound tunnels accept in addition.',
  ])
  expect(describeField(found('Gateway.spec.listeners')).join('\n')).not.toContain('Specification')
})

test('the list of fields says which are not implemented', () => {
  const lines = describeField(found('ProxyPolicy.spec.traffic'))
  expect(lines).toContain('  extAuth               External authorization. (object)')
  expect(lines).toContain('  extProc               External processing by a gRPC server. (object)')
  expect(lines).toContain('  retry                 Retries. (object)')
})

test('a neutral name says which product it is', () => {
  const [title] = describeField(found('ProxyBackend.spec.ai.provider.providerFour'))
  expect(title).toBe('ProxyBackend.spec.ai.provider.providerFour (Anthropic)')
})

test('the name of a product finds all its places', async () => {
  const { code, stdout } = await gatewright(['fields', 'OpenAI'])
  expect(code).toBe(0)
  const [title, ...lines] = stdout.split('\n')
  expect(title).toBe('providerOne (OpenAI) is a field:')
  expect(lines.slice(0, 2)).toEqual([
    '  ProxyBackend.spec.ai.provider.providerOne',
    '  ProxyBackend.spec.ai.groups.providers.providerOne',
  ])
  expect(lines).toContain('moderationEndpoint (OpenAI moderation) is a field:')
  const at = lines.indexOf('ResourceTypeOne (Azure OpenAI resource) is a value of:')
  expect(lines[at + 1]).toBe('  ProxyBackend.spec.ai.provider.providerThree.resourceType')
})

test.each(['okta', 'IdpThree'])('%s: every path leads to a field with that value', (word) => {
  const [product] = findProducts(word)
  expect(product).toMatchObject({ name: 'IdpThree', fields: [] })
  expect(product!.values.map(pathText)).toContain('ProxyPolicy.spec.traffic.jwtAuthentication.mcp.provider')
  for (const field of product!.values) expect(found(pathText(field)).path).toEqual(field.path)
})

test.each([
  [
    'groq',
    'unknown kind "groq": Groq has an API that is compatible with OpenAI; use "ProxyBackend.spec.ai.provider.providerOne" with "host"',
    undefined,
  ],
  ['ProxyPolicy.spec.trafic', 'ProxyPolicy.spec has no field "trafic"', 'ProxyPolicy.spec.traffic'],
  ['rateLimit.local', 'unknown kind "rateLimit"', 'ProxyPolicy.spec.traffic.rateLimit.local'],
  ['ProxyPolcy.spec', 'unknown kind "ProxyPolcy"', 'ProxyPolicy.spec'],
  ['ProxyPolicy.cors', 'ProxyPolicy has no field "cors"', 'ProxyPolicy.spec.traffic.cors'],
  [
    'ProxyBackend.spec.ai.provider.openai',
    'ProxyBackend.spec.ai.provider has no field "openai": OpenAI is "providerOne"',
    undefined,
  ],
  ['ProxyPolicy.spec.qqqqq', 'ProxyPolicy.spec has no field "qqqqq"', undefined],
])('%s is no field', (path, message, suggestion) => {
  expect(findField(path)).toEqual({ message, suggestion })
})

test('every field of every kind has a description and a type, and is found by its path', () => {
  const missing: string[] = []
  const visit = (field: FoundField) => {
    for (const child of childrenOf(field)) {
      const path = pathText(child)
      if (child.node.description === undefined) missing.push(path)
      expect(describeType(child.node), path).not.toMatch(/undefined|object Object/)
      if (child.path.length < 4) expect(findField(path)).toMatchObject({ path: child.path })
      visit(child)
    }
  }
  for (const info of KINDS) visit({ info, path: [], node: nodeOf(info.schema), isRequired: true })
  expect(missing).toEqual([])
})

test('inline policies of a ProxyBackend have the examples of backend policies', () => {
  expect(exampleOf(found('ProxyBackend.spec.policies.tls'))).toMatchObject({
    file: 'src/policies/backend/tls/example.yaml',
    isWhole: true,
  })
  expect(exampleOf(found('ProxyPolicy.spec.traffic.cors.allowOrigins'))).toMatchObject({
    file: 'src/policies/traffic/cors/example.yaml',
    isWhole: false,
  })
  expect(exampleOf(found('ProxyBackend.spec.policies.ai.promptGuard'))).toMatchObject({
    file: 'examples/guards/policy.yaml',
    isWhole: true,
  })
  expect(exampleOf(found('ProxyPolicy.spec.traffic.phase'))).toBeUndefined()
  expect(exampleOf(found('Gateway.spec.listeners'))).toBeUndefined()
})
