import { expect, test } from 'vitest'
import { admitObject } from '#test/support/admit-object.ts'
import { translate } from '../translate.ts'
import { supportedFeatures } from './supported-features.ts'

test.each([true, false])(
  'the features of a class are sorted and unique, and fit into a status; deployed: %s',
  (isDeployed) => {
    const names = supportedFeatures(isDeployed).map(({ name }) => name)
    expect(names).toEqual([...new Set(names)].sort())
    expect(names.length).toBeLessThanOrEqual(64)
    expect(names.includes('GatewayInfrastructure')).toBe(isDeployed)
  },
)

test('only our classes tell them, even one that is not accepted', () => {
  const parametersRef = { group: 'gatewright.dev', kind: 'ProxyParameters', namespace: 'default', name: 'gone' }
  const classes = [
    ['ours', { controllerName: 'gatewright.dev/controller' }],
    ['broken', { controllerName: 'gatewright.dev/controller', parametersRef }],
    ['theirs', { controllerName: 'example.com/controller' }],
  ] as const
  const objects = classes.map(([name, spec]) => admitObject({ kind: 'GatewayClass', metadata: { name }, spec }))
  const found = translate(objects).statuses.map(({ name, status }) => [name, status.supportedFeatures])
  expect(found).toEqual(['broken', 'ours'].map((name) => [name, supportedFeatures(false)]))
})
