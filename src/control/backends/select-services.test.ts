import { expect, test } from 'vitest'
import type { ServiceObject } from '#api/service.ts'
import type { Inventory } from '../context/inventory.ts'
import { selectServices } from './select-services.ts'

let labelReads = 0

function serviceOf(namespace: string, name: string, labels: Record<string, string>): ServiceObject {
  const metadata = {
    namespace,
    name,
    get labels() {
      labelReads++
      return labels
    },
  }
  return { metadata, spec: {} } as unknown as ServiceObject
}

function inventoryOf(services: readonly ServiceObject[]): Inventory {
  const inOwn = services.filter(({ metadata }) => metadata.namespace === 'own')
  return {
    all: () => services,
    inNamespace: () => inOwn,
    namespaceLabels: (name: string) => ({ name }),
  } as unknown as Inventory
}

const services = [
  serviceOf('own', 'b', { app: 'x', tier: '1' }),
  serviceOf('own', 'a', { app: 'x', tier: '2' }),
  serviceOf('other', 'c', { app: 'x', tier: '1' }),
  serviceOf('own', 'd', {}),
]

test.each<[selector: Parameters<typeof selectServices>[2], names: readonly string[]]>([
  [{}, ['a', 'b', 'd']],
  [{ services: { matchLabels: { app: 'x' } } }, ['a', 'b']],
  [{ services: { matchLabels: { app: 'x', tier: '1' } } }, ['b']],
  [{ services: { matchLabels: { app: 'y' } } }, []],
  [{ services: { matchExpressions: [{ key: 'app', operator: 'DoesNotExist' }] } }, ['d']],
  [
    { services: { matchLabels: { app: 'x' }, matchExpressions: [{ key: 'tier', operator: 'In', values: ['2'] }] } },
    ['a'],
  ],
  [{ services: { matchLabels: { 'not valid': 'x' } } }, []],
  [{ namespaces: {}, services: { matchLabels: { tier: '1' } } }, ['c', 'b']],
  [{ namespaces: { matchLabels: { name: 'other' } } }, ['c']],
])('%j selects %j', (selector, names) => {
  expect(selectServices(inventoryOf(services), 'own', selector).map(({ metadata }) => metadata.name)).toEqual(names)
})

test('many selectors do not each look at all Services', () => {
  const many = Array.from({ length: 200 }, (_, index) => serviceOf('own', `s${index}`, { app: `a${index}`, team: 't' }))
  const inventory = inventoryOf(many)
  labelReads = 0
  for (let index = 0; index < 200; index++) {
    const found = selectServices(inventory, 'own', { services: { matchLabels: { team: 't', app: `a${index}` } } })
    expect(found).toHaveLength(1)
  }
  expect(labelReads).toBe(400)
})
