import { expect, test } from 'vitest'
import { nodeOf } from '#schema/index.ts'
import { childrenOf, type FoundField, findField } from '../find-field.ts'
import { KINDS } from '../kinds.ts'
import type { Requirement } from './requirement.ts'
import { REQUIREMENTS } from './requirements.ts'
import { isNotImplemented, requirementsOf, SUBJECTS } from './requirements-of-field.ts'

function field(path: string): FoundField {
  const found = findField(path)
  if ('message' in found) throw new Error(found.message)
  return found
}

const textsOf = (path: string) => requirementsOf(field(path)).map(({ text }) => text)

test.each([
  ['the area of a policy', 'ProxyPolicy.spec.frontend.proxyProtocol', 'frontend.proxyProtocol/version-values'],
  ['a statement that begins with the name', 'ProxyPolicy.spec.targetRefs', 'policy/targetRefs-count'],
  ['the kind', 'ProxyBackend.spec.mcp', 'backend.mcp/targets-count'],
  ['the section of that name', 'ProxyPolicy.spec.backend.mcp', 'backend.mcp/backends-of-kind-mcp'],
  ['inline policies', 'ProxyBackend.spec.policies.tls', 'backend.tls/initiates'],
  ['policies of a provider', 'ProxyBackend.spec.ai.groups.providers.policies.tls.sni', 'backend.tls/sni'],
  ['a provider', 'ProxyBackend.spec.ai.groups.providers.providerOne.model', 'backend.ai.providerOne/model'],
  ['a shared structure', 'ProxyPolicy.spec.backend.auth.location.header', 'location/header'],
  ['conditional', 'ProxyPolicy.spec.traffic.rateLimit.conditional', 'traffic.conditional/one-fallback'],
  [
    'a conditional policy',
    'ProxyPolicy.spec.traffic.rateLimit.conditional.policy.local',
    'traffic.rateLimit.local/tokens-both',
  ],
  ['a guard', 'ProxyPolicy.spec.backend.ai.promptGuard.response.regex', 'backend.ai.promptGuard.regex/builtins-values'],
  ['an overlay', 'ProxyParameters.spec.deployment', 'parameters.overlay/deployment'],
  ['the type', 'ProxyPolicy.spec.backend.tls.sni', 'scalar/sni-labels'],
  ['the envelope of a kind', 'ProxyParameters', 'resource/kind-names'],
] as const)('statements of %s: %s', (_, path, id) => {
  expect(textsOf(path)).toContain(statement(id).text)
})

function statement(id: string): Requirement {
  const found = Object.entries(REQUIREMENTS).find(([each]) => each === id)
  if (found === undefined) throw new Error(`no ${id}`)
  return found[1]
}

test('the kind ProxyBackend and the section backend share names, not statements', () => {
  expect(textsOf('ProxyBackend.spec.mcp')).not.toContain(statement('backend.mcp/backends-of-kind-mcp').text)
  expect(textsOf('ProxyPolicy.spec.backend.mcp')).not.toContain(statement('backend.mcp/targets-count').text)
})

test('kinds of the platform have no statements', () => {
  expect(requirementsOf(field('Gateway.spec.listeners'))).toEqual([])
})

test('every statement is about a field, except those of subjects', () => {
  const shown = new Set<Requirement>()
  const visit = (at: FoundField) => {
    for (const each of requirementsOf(at)) shown.add(each)
    for (const child of childrenOf(at)) visit(child)
  }
  for (const info of KINDS) visit({ info, path: [], node: nodeOf(info.schema), isRequired: true })
  const missing = Object.entries(REQUIREMENTS).filter(([, each]) => !shown.has(each))
  const areas = new Set(missing.map(([id]) => id.slice(0, id.indexOf('/'))))
  expect([...areas].sort()).toEqual([...SUBJECTS])
})

test.each([
  ['ProxyPolicy.spec.traffic.extProc', false],
  ['ProxyPolicy.spec.backend.tunnel', false],
  ['ProxyPolicy.spec.traffic.extAuth.grpc', false],
  ['ProxyPolicy.spec.traffic.rateLimit.global', false],
  ['ProxyParameters.spec', false], // in part
  ['ProxyParameters.spec.mesh', false], // in part
  ['ProxyParameters.spec.mesh.caAddress', false],
  ['ProxyParameters.spec.mesh.additionalTrustDomains', true],
  ['ProxyPolicy.spec.traffic.csrf', false],
  ['ProxyPolicy.spec.traffic.retry.attempts', false], // nothing is said about it
  ['Gateway.spec.listeners', false],
])('%s is not implemented: %s', (path, expected) => {
  expect(isNotImplemented(field(path))).toBe(expected)
})
