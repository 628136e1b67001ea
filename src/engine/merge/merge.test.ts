import { expect, test } from 'vitest'
import type { LevelName, PolicyItem } from '#plan/item.ts'
import { verifies } from '#test/support/verifies.ts'
import { RecordedLookups } from '../lookups/lookups.ts'
import { indexOf, policyItem } from '../testing.ts'
import { type MergeRequest, mergePolicies } from './merge.ts'

const GATEWAY = 'Gateway/default/main'
const LISTENER = 'Gateway/default/main/http'
const ROUTE = 'HTTPRoute/default/r'
const RULE = 'HTTPRoute/default/r/first'
const INLINE = 'HTTPRoute/default/r#0'
const BACKEND = 'ProxyBackend/default/b'
const SECTION = 'ProxyBackend/default/b/one'

const ALL = [GATEWAY, LISTENER, ROUTE, RULE, INLINE, BACKEND, SECTION]

/** The result of a merge, by field: names of the effective policies, and of those that were overridden. */
function merged(policies: readonly PolicyItem[], request: Partial<MergeRequest> = {}): Record<string, string> {
  const lookups = new RecordedLookups(indexOf(...policies))
  const fields = mergePolicies(lookups, {
    section: 'traffic',
    phase: 'PostRouting',
    targets: ALL,
    accumulates: (field) => field === 'authorization',
    ...request,
  })
  const names = (items: readonly PolicyItem[]) => items.map(({ origin }) => origin.name).join(' ')
  return Object.fromEntries(
    [...fields].map(([field, { sources, overridden }]) => [
      field,
      overridden.length === 0 ? names(sources) : `${names(sources)} over ${names(overridden)}`,
    ]),
  )
}

const cors = (target: string, policy: string, more: Partial<PolicyItem> = {}) =>
  policyItem('traffic.cors', target, {}, { policy, ...more })
const tls = (target: string, policy: string, level?: LevelName) =>
  policyItem('backend.tls', target, {}, { policy, ...(level && { level, key: `${target} ${level}` }) })

verifies('policy/merge-field-by-field', 'different fields of two policies both apply', () => {
  const policies = [
    policyItem('backend.tcp', GATEWAY, {}, { policy: 'a' }),
    policyItem('backend.tls', BACKEND, {}, { policy: 'b' }),
  ]
  expect(merged(policies, { section: 'backend', phase: undefined })).toEqual({ tcp: 'a', tls: 'b' })
})

verifies('policy/merge-not-deep', 'a field that two policies set comes whole from the one with precedence', () => {
  const policies = [
    policyItem('traffic.rateLimit', GATEWAY, { local: ['l'], global: { domain: 'd' } }, { policy: 'weak' }),
    policyItem('traffic.rateLimit', ROUTE, { local: ['mine'] }, { policy: 'strong' }),
  ]
  const lookups = new RecordedLookups(indexOf(...policies))
  const fields = mergePolicies(lookups, {
    section: 'traffic',
    phase: 'PostRouting',
    targets: ALL,
    accumulates: () => false,
  })
  expect(fields.get('rateLimit')!.sources.map(({ spec }) => spec)).toEqual([{ local: ['mine'] }])
})

verifies(
  'policy/precedence-traffic',
  'Gateway, Listener, Route, Route Rule, the rule itself: the more specific target takes precedence',
  () => {
    const levels = [GATEWAY, LISTENER, ROUTE, RULE, INLINE]
    const policies = levels.map((target, i) => cors(target, `p${i}`))
    expect(merged(policies)).toEqual({ cors: 'p4 over p3 p2 p1 p0' })
    for (let count = 4; count > 1; count--) {
      const losers = Array.from({ length: count - 1 }, (_, i) => `p${count - 2 - i}`).join(' ')
      expect(merged(policies.slice(0, count).toReversed())).toEqual({ cors: `p${count - 1} over ${losers}` })
    }
  },
)

test('the level of a ListenerSet is between its Gateway and its listener', () => {
  const targets = [GATEWAY, 'ListenerSet/default/s', 'ListenerSet/default/s/http']
  const policies = targets.map((target, i) => cors(target, `p${i}`))
  expect(merged(policies, { targets })).toEqual({ cors: 'p2 over p1 p0' })
})

verifies(
  'policy/precedence-backend',
  'for section backend, a policy of the destination takes precedence over one of the route',
  () => {
    const policies = [
      tls(GATEWAY, 'gateway'),
      tls(ROUTE, 'route'),
      tls(RULE, 'rule'),
      tls(BACKEND, 'backend'),
      tls(SECTION, 'section'),
      tls(BACKEND, 'inline', 'BackendInline'),
      tls(SECTION, 'section-inline', 'SectionInline'),
    ]
    expect(merged(policies, { section: 'backend', phase: undefined })).toEqual({
      tls: 'section-inline over inline section backend rule route gateway',
    })
    const atRoute = policies.slice(0, 4).toReversed()
    expect(merged(atRoute, { section: 'backend', phase: undefined })).toEqual({
      tls: 'backend over rule route gateway',
    })
  },
)

verifies('traffic/phases-never-merge', 'each phase merges for itself', () => {
  const policies = [
    cors(ROUTE, 'post'),
    cors(GATEWAY, 'post-weak'),
    policyItem('PreRouting.cors', LISTENER, {}, { policy: 'pre' }),
    policyItem('PreRouting.cors', GATEWAY, {}, { policy: 'pre-weak' }),
  ]
  expect(merged(policies)).toEqual({ cors: 'post over post-weak' })
  expect(merged(policies, { phase: 'PreRouting' })).toEqual({ cors: 'pre over pre-weak' })
})

test('fields with the same name in different sections are independent', () => {
  const policies = [
    policyItem('traffic.transformation', GATEWAY, {}, { policy: 'traffic' }),
    policyItem('backend.transformation', GATEWAY, {}, { policy: 'backend' }),
    policyItem('frontend.tls', GATEWAY, {}, { policy: 'frontend' }),
    policyItem('backend.tls', GATEWAY, {}, { policy: 'backend' }),
  ]
  expect(merged(policies)).toEqual({ transformation: 'traffic' })
  expect(merged(policies, { section: 'backend', phase: undefined })).toEqual({
    transformation: 'backend',
    tls: 'backend',
  })
  expect(merged(policies, { section: 'frontend', phase: undefined })).toEqual({ tls: 'frontend' })
})

test('rule sets accumulate from every level, highest first, and none is overridden', () => {
  const policies = [GATEWAY, ROUTE, LISTENER].map((target, i) =>
    policyItem('traffic.authorization', target, {}, { policy: `p${i}` }),
  )
  expect(merged(policies)).toEqual({ authorization: 'p1 p2 p0' })
})

test('on the same level the older object takes precedence, then namespace, then name; files count as oldest', () => {
  const at = (policy: string, created: string, namespace = 'default') =>
    cors(GATEWAY, policy, {
      created,
      key: `${namespace}/${policy}`,
      origin: { kind: 'ProxyPolicy', namespace, name: policy },
    })
  const policies = [
    at('file', ''),
    at('z', '2026-01-01T00:00:00Z', 'a'),
    at('a', '2026-01-02T00:00:00Z', 'a'),
    at('b', '2026-01-02T00:00:00Z', 'a'),
    at('a', '2026-01-02T00:00:00Z', 'b'),
  ]
  const expected = { cors: 'file over z a b a' }
  expect(merged(policies)).toEqual(expected)
  expect(merged(policies.toReversed())).toEqual(expected)
})

test('a policy that applies by two targets counts once, at its higher level', () => {
  const at = (field: string, policy: string, target: string) =>
    policyItem(`traffic.${field}`, target, {}, { policy, created: policy === 'twice' ? '1' : '0' })
  const policies = [
    ...['authorization', 'cors'].flatMap((field) => [
      at(field, 'twice', GATEWAY),
      at(field, 'twice', LISTENER),
      at(field, 'once', GATEWAY),
    ]),
  ]
  expect(merged(policies)).toEqual({ authorization: 'twice once', cors: 'twice over once' })
})

test('targets without policies have an empty result', () => {
  expect(merged([cors('HTTPRoute/default/other', 'p')])).toEqual({})
})
