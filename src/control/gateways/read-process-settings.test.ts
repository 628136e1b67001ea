import { expect, test } from 'vitest'
import { admitObject } from '#test/support/admit-object.ts'
import { mayChangeProcessSettings, readProcessSettings } from './read-process-settings.ts'

const parameters = (name: string, spec: object) => ({ kind: 'ProxyParameters', metadata: { name }, spec })
const gateway = (name: string, of: string | undefined, gatewayClassName = 'gatewright') => ({
  kind: 'Gateway',
  metadata: { name },
  spec: {
    gatewayClassName,
    listeners: [{ name: 'http', port: 8080, protocol: 'HTTP' }],
    ...(of && { infrastructure: { parametersRef: { group: 'gatewright.dev', kind: 'ProxyParameters', name: of } } }),
  },
})
const settingsOfAll = (...objects: readonly object[]) => readProcessSettings(objects.map((one) => admitObject(one)))

test('without parameters there are no settings', () => {
  expect(settingsOfAll(gateway('a', undefined))).toEqual({ variables: {}, workers: undefined, differing: [] })
})

test('the first Gateway with a setting decides; Gateways of other controllers and unusable parameters do not', () => {
  const ofOthers = {
    kind: 'GatewayClass',
    metadata: { name: 'foreign' },
    spec: { controllerName: 'example.com/other' },
  }
  expect(
    settingsOfAll(
      ofOthers,
      parameters('loud', { logging: { level: 'debug' }, rawConfig: { workers: 7 } }),
      parameters('bad', { logging: { level: 'warn' }, rawConfig: { listeners: [] } }),
      parameters('one', { rawConfig: { workers: 2 } }),
      parameters('two', { logging: { level: 'error' }, rawConfig: { workers: 3 } }),
      gateway('d', 'two'),
      gateway('c', 'one'),
      gateway('b', 'bad'),
      gateway('a', 'loud', 'foreign'),
    ),
  ).toEqual({
    variables: { GATEWRIGHT_LOG_LEVEL: 'error' },
    workers: 2,
    differing: [{ gateway: 'default/d', setting: 'workers' }],
  })
})

test.each([
  ['GatewayClass', true],
  ['Gateway', true],
  ['ProxyParameters', true],
  ['Namespace', false],
])('a change of a %s may change the settings: %s', (kind, changes) => {
  const specs: Record<string, object> = {
    GatewayClass: { spec: { controllerName: 'example.com/other' } },
    Gateway: { spec: gateway('a', undefined).spec },
    ProxyParameters: { spec: {} },
  }
  const object = admitObject({ kind, metadata: { name: 'a' }, ...specs[kind] })
  expect(mayChangeProcessSettings({ set: [object], removed: [] })).toBe(changes)
  expect(mayChangeProcessSettings({ set: [], removed: [object] })).toBe(changes)
})
