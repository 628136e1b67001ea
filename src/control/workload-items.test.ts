import { expect, test } from 'vitest'
import type { ApiObject } from '#api/object.ts'
import type { PolicyItem } from '#plan/item.ts'
import { collect } from './inventory.ts'
import { workloadItems } from './workload-items.ts'

const origin = { kind: 'Pod', namespace: 'default', name: 'a' }
const POD: ApiObject = {
  apiVersion: 'v1',
  kind: 'Pod',
  metadata: { name: 'a', namespace: 'default' },
  status: { phase: 'Running', podIP: '10.0.0.1' },
  origin,
}

const itemsFor = (expression: string) =>
  workloadItems(collect([POD]), [{ spec: { policy: { matchExpressions: [expression] } } } as unknown as PolicyItem])

test.each([
  'source.unverifiedWorkload.name == "a"',
  'has(source.unverifiedWorkload.name)',
  'source["unverifiedWorkload"]["name"] == "a"',
  'source.?unverifiedWorkload.?name.orValue("") == "a"',
  'toJson(source).contains("cart")',
  'source == {}',
  'size(variables()) > 3',
])('%s asks for pods', (expression) => {
  expect(itemsFor(expression)).toHaveLength(1)
})

test.each(['source.address == "10.0.0.1"', 'source . port > 1', 'resource == 1', 'request.path == "/"'])(
  '%s asks for none',
  (expression) => {
    expect(itemsFor(expression)).toEqual([])
  },
)
