import { expect, test } from 'vitest'
import type { ApiObject } from '#api/object.ts'
import { admitObject } from '#test/support/admit-object.ts'
import { translate } from '../translate.ts'

const origin = { kind: 'Pod', namespace: 'default', name: 'a' }
const POD: ApiObject = {
  apiVersion: 'v1',
  kind: 'Pod',
  metadata: { name: 'a', namespace: 'default' },
  status: { phase: 'Running', podIP: '10.0.0.1' },
  origin,
}

function itemsFor(expression: string): readonly unknown[] {
  const policy = {
    apiVersion: 'gatewright.dev/v1alpha1',
    kind: 'ProxyPolicy',
    metadata: { name: 'p', namespace: 'default' },
    spec: {
      targetRefs: [{ group: 'gateway.networking.k8s.io', kind: 'Gateway', name: 'main' }],
      traffic: { authorization: { policy: { matchExpressions: [expression] } } },
    },
    origin: { kind: 'ProxyPolicy', namespace: 'default', name: 'p' },
  }
  const gateway = {
    kind: 'Gateway',
    metadata: { name: 'main' },
    spec: { gatewayClassName: 'gatewright', listeners: [{ name: 'http', port: 8080, protocol: 'HTTP' }] },
  }
  const { items } = translate([POD, admitObject(gateway), policy])
  return [...items.values()].filter(({ kind }) => kind === 'workload')
}

test.each([
  'source.unverifiedWorkload.name == "a"',
  'has(source.unverifiedWorkload.name)',
  'source["unverifiedWorkload"]["name"] == "a"',
  'source.?unverifiedWorkload.?name.orValue("") == "a"',
  'toJson(source).contains("cart")',
  'source == {}',
  'size(variables()) > 3',
])('%s requires workload items', (expression) => {
  expect(itemsFor(expression)).toHaveLength(1)
})

test.each(['source.address == "10.0.0.1"', 'source . port > 1', 'resource == 1', 'request.path == "/"'])(
  '%s requires no workload items',
  (expression) => {
    expect(itemsFor(expression)).toEqual([])
  },
)
