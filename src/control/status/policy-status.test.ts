import { expect, test } from 'vitest'
import type { ApiObject } from '#api/object.ts'
import { policyStatus as statusSchema } from '#api/policy-status.ts'
import { validate } from '#schema/index.ts'
import { admitObject } from '#test/support/admit-object.ts'
import { verifies } from '#test/support/verifies.ts'
import { translate } from '../translate.ts'
import { stampStatus } from './stamp-status.ts'

/** The status of a policy for `count` Gateways. */
function statusFor(count: number, foreign: readonly string[] = []) {
  const names = Array.from({ length: count }, (_, index) => `g${String(index).padStart(2, '0')}`)
  const gateways = names.map((name, index) => ({
    kind: 'Gateway',
    metadata: { name, labels: { all: 'yes' } },
    spec: { gatewayClassName: 'gatewright', listeners: [{ name: 'http', port: 8000 + index, protocol: 'HTTP' }] },
  }))
  const policy = {
    kind: 'ProxyPolicy',
    metadata: { name: 'p', generation: 2 },
    spec: {
      targetSelectors: [{ group: 'gateway.networking.k8s.io', kind: 'Gateway', matchLabels: { all: 'yes' } }],
      traffic: { csrf: {} },
    },
    status: {
      ancestors: foreign.map((name) => ({
        ancestorRef: { name },
        controllerName: 'example.com/other',
        conditions: [],
      })),
    },
  }
  const objects: ApiObject[] = [...gateways, policy].map(admitObject)
  const status = translate(objects).statuses.find(({ kind }) => kind === 'ProxyPolicy')!.status
  return status as unknown as { ancestors: { ancestorRef: { name: string }; conditions: { message: string }[] }[] }
}

verifies(
  'policy.status/ancestors-required',
  'each Gateway whose traffic the policy affects is an ancestor, up to 16',
  () => {
    expect(statusFor(16).ancestors.map(({ ancestorRef }) => ancestorRef.name)).toEqual(
      Array.from({ length: 16 }, (_, index) => `g${String(index).padStart(2, '0')}`),
    )
  },
)

verifies(
  'policy.status/ancestors-required',
  'with more than 16 ancestors, the last entry says how many are omitted',
  () => {
    const { ancestors } = statusFor(20)
    expect(ancestors).toHaveLength(16)
    expect(ancestors[14]!.ancestorRef.name).toBe('g14')
    expect(ancestors[15]).toEqual({
      ancestorRef: { group: 'gatewright.dev', name: 'StatusSummary' },
      controllerName: 'gatewright.dev/controller',
      conditions: [
        {
          type: 'StatusSummarized',
          status: 'True',
          reason: 'StatusSummary',
          message: '5 AncestorRefs ignored due to max status size',
          observedGeneration: 2,
        },
      ],
    })
  },
)

verifies(
  'policy.status/cleanup',
  'entries of other controllers are kept, and the summary replaces an entry of this controller',
  () => {
    const { ancestors } = statusFor(15, ['a-theirs', 'z-theirs'])
    const names = ancestors.map(({ ancestorRef }) => ancestorRef.name)
    expect(names).toHaveLength(16)
    expect(names[0]).toBe('a-theirs')
    expect(names[15]).toBe('StatusSummary')
  },
)

verifies(
  ['policy.status/conditions', 'policy.status/controllerName-form', 'policy.status/ancestor-conditions'],
  'a stamped status conforms to the schema of the API',
  () => {
    const stamped = stampStatus(statusFor(3), undefined, '2026-01-01T00:00:00Z')
    expect(validate(statusSchema, stamped).problems).toEqual([])
  },
)

test('of many Gateways that share a backend, those that come first by name are in the status', () => {
  // By key, the namespace comes first; in a status, the name.
  const places = Array.from({ length: 20 }, (_, i) => ({ namespace: i < 10 ? 'b' : 'a', name: `g${i + 10}` }))
  const shared = { group: 'gatewright.dev', kind: 'ProxyBackend', name: 'shared', namespace: 'default' }
  const objects = places.flatMap((metadata, i) => [
    {
      kind: 'Gateway',
      metadata,
      spec: { gatewayClassName: 'gatewright', listeners: [{ name: 'http', port: 8000 + i, protocol: 'HTTP' }] },
    },
    {
      kind: 'HTTPRoute',
      metadata,
      spec: { parentRefs: [{ name: metadata.name }], rules: [{ backendRefs: [shared] }] },
    },
  ])
  const grants = ['a', 'b'].map((namespace) => ({
    kind: 'ReferenceGrant',
    metadata: { name: namespace },
    spec: {
      from: [{ group: 'gateway.networking.k8s.io', kind: 'HTTPRoute', namespace }],
      to: [{ group: shared.group, kind: shared.kind }],
    },
  }))
  const backend = { kind: 'ProxyBackend', metadata: { name: 'shared' }, spec: { static: { host: 'x.test', port: 1 } } }
  const { group, kind, name } = shared
  const policy = {
    kind: 'ProxyPolicy',
    metadata: { name: 'p' },
    spec: { targetRefs: [{ group, kind, name }], backend: { tls: { sni: 's.test' } } },
  }
  const translated = translate([...objects, ...grants, backend, policy].map((object) => admitObject(object)))
  const found = translated.statuses.find((one) => one.kind === 'ProxyPolicy')!
  const status = found.status as unknown as { ancestors: { ancestorRef: { name: string } }[] }
  const names = status.ancestors.map(({ ancestorRef }) => ancestorRef.name)
  expect(names).toEqual([...places.slice(0, 15).map((place) => place.name), 'StatusSummary'])
  expect(JSON.stringify(status.ancestors[15])).toContain('5 AncestorRefs ignored')
})
