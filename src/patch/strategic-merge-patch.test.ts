import { describe, expect, test } from 'vitest'
import type { JsonObject } from '#base/json.ts'
import { parseJson } from '#base/parse-json.ts'
import { mergeKeysOf } from './merge-keys.ts'
import { applyStrategicMergePatch } from './strategic-merge-patch.ts'

function apply(kind: string, object: object, patch: unknown) {
  return applyStrategicMergePatch(object as JsonObject, patch, mergeKeysOf(kind))
}

const service = (...ports: object[]) => ({ spec: { ports } })
const pod = (containers: object[]) => ({ spec: { containers } })
const finalizers = (...names: string[]) => ({ metadata: { finalizers: names } })

// The results are those of Kubernetes, `npm run interop:kubernetes -- --only strategic-merge`.
test.each([
  [
    'a port by its number',
    'Service',
    service({ port: 80, name: 'a' }, { port: 81 }),
    service({ port: 80, name: 'b' }),
    service({ port: 80, name: 'b' }, { port: 81 }),
  ],
  ['a new port is first', 'Service', service({ port: 80 }), service({ port: 81 }), service({ port: 81 }, { port: 80 })],
  [
    'a port without number',
    'Service',
    service({ port: 80 }),
    service({ name: 'a' }),
    'map does not contain declared merge key: port',
  ],
  [
    'of two ports with one number the first',
    'Service',
    service({ port: 53, protocol: 'TCP' }, { port: 53, protocol: 'UDP' }),
    service({ port: 53, name: 'a' }),
    service({ port: 53, protocol: 'TCP', name: 'a' }, { port: 53, protocol: 'UDP' }),
  ],
  [
    'null deletes',
    'Service',
    { spec: { type: 'x', selector: { a: 'b', c: 'd' } } },
    { spec: { type: null, selector: { a: null } } },
    { spec: { selector: { c: 'd' } } },
  ],
  [
    'null in a new object',
    'Service',
    {},
    { spec: { selector: { a: null, b: 'c' } } },
    { spec: { selector: { b: 'c' } } },
  ],
  [
    'a list without merge key',
    'Service',
    { spec: { externalIPs: ['1.1.1.1'] } },
    { spec: { externalIPs: ['2.2.2.2'] } },
    { spec: { externalIPs: ['2.2.2.2'] } },
  ],
  [
    'the health of volumes by its status',
    'Pod',
    { status: { volumeHealth: { healthConditions: [{ status: 'Bad', message: 'a' }, { status: 'Lost' }] } } },
    { status: { volumeHealth: { healthConditions: [{ status: 'Bad', message: 'b' }] } } },
    { status: { volumeHealth: { healthConditions: [{ status: 'Bad', message: 'b' }, { status: 'Lost' }] } } },
  ],
  [
    'env within containers',
    'Pod',
    pod([{ name: 'a', env: [{ name: 'X', value: '1' }] }]),
    pod([{ name: 'a', env: [{ name: 'Y', value: '2' }] }]),
    pod([
      {
        name: 'a',
        env: [
          { name: 'Y', value: '2' },
          { name: 'X', value: '1' },
        ],
      },
    ]),
  ],
  [
    'tolerations are replaced',
    'Pod',
    { spec: { tolerations: [{ key: 'a' }] } },
    { spec: { tolerations: [{ key: 'b' }] } },
    { spec: { tolerations: [{ key: 'b' }] } },
  ],
  [
    'owners by uid',
    'Secret',
    { metadata: { ownerReferences: [{ uid: '1', name: 'a' }] } },
    { metadata: { ownerReferences: [{ uid: '2', name: 'b' }] } },
    {
      metadata: {
        ownerReferences: [
          { uid: '2', name: 'b' },
          { uid: '1', name: 'a' },
        ],
      },
    },
  ],
  ['a kind without entry', 'toString', finalizers('a'), finalizers('b'), finalizers('b', 'a')],
  ['finalizers are a set', 'Secret', finalizers('a', 'b'), finalizers('b', 'c'), finalizers('a', 'b', 'c')],
  [
    'delete from a set',
    'Secret',
    finalizers('a', 'b', 'c'),
    { metadata: { '$deleteFromPrimitiveList/finalizers': ['b', 'x'] } },
    finalizers('a', 'c'),
  ],
  [
    'order of a set',
    'Secret',
    finalizers('a', 'b', 'c'),
    { metadata: { '$setElementOrder/finalizers': ['c', 'd', 'a'], finalizers: ['d'] } },
    finalizers('b', 'c', 'd', 'a'),
  ],
  [
    'order of ports',
    'Service',
    service({ port: 1 }, { port: 2 }, { port: 3 }),
    { spec: { '$setElementOrder/ports': [{ port: 3 }, { port: 1 }] } },
    service({ port: 2 }, { port: 3 }, { port: 1 }),
  ],
  [
    'order of a new list',
    'Service',
    {},
    { spec: { '$setElementOrder/ports': [{ port: 2 }, { port: 1 }], ports: [{ port: 2 }, { port: 1 }] } },
    service({ port: 2 }, { port: 1 }),
  ],
  ['order without list', 'Service', {}, { spec: { '$setElementOrder/ports': [{ port: 2 }] } }, { spec: {} }],
  ['order of empty lists', 'Secret', finalizers(), { metadata: { '$setElementOrder/finalizers': [] } }, finalizers()],
  [
    'another order than set',
    'Secret',
    finalizers('a'),
    { metadata: { '$setElementOrder/finalizers': ['b', 'c'], finalizers: ['c', 'b'] } },
    "the order in the patch list doesn't match the $setElementOrder list",
  ],
  [
    'delete an item',
    'Service',
    service({ port: 80 }, { port: 81 }),
    service({ port: 80, $patch: 'delete' }),
    service({ port: 81 }),
  ],
  [
    'delete an item that is missing',
    'Service',
    service({ port: 81 }),
    service({ port: 80, $patch: 'delete' }),
    service({ port: 81 }),
  ],
  ['delete an item of no list', 'Service', { spec: {} }, service({ port: 80, $patch: 'delete' }), service()],
  [
    'delete an unnamed item',
    'Service',
    service({ port: 80 }),
    service({ $patch: 'delete' }),
    'map does not contain declared merge key: port',
  ],
  [
    'replace a list',
    'Service',
    service({ port: 80 }, { port: 81 }),
    service({ $patch: 'replace' }, { port: 82 }),
    service({ port: 82 }),
  ],
  [
    'replace an object',
    'Service',
    { spec: { selector: { a: 'b' } } },
    { spec: { selector: { $patch: 'replace', c: 'd' } } },
    { spec: { selector: { c: 'd' } } },
  ],
  [
    'empty an object',
    'Service',
    { spec: { selector: { a: 'b' } } },
    { spec: { selector: { $patch: 'delete' } } },
    { spec: { selector: {} } },
  ],
  [
    'merge a list',
    'Service',
    service({ port: 80 }),
    service({ $patch: 'merge' }),
    'merging lists cannot yet be specified in the patch',
  ],
  ['merge an object', 'Service', { spec: {} }, { spec: { $patch: 'merge' } }, 'unknown patch type: merge in map'],
  [
    'retain keys',
    'Pod',
    { spec: { volumes: [{ name: 'v', emptyDir: {} }] } },
    { spec: { volumes: [{ name: 'v', $retainKeys: ['name', 'configMap'], configMap: { name: 'c' } }] } },
    { spec: { volumes: [{ name: 'v', configMap: { name: 'c' } }] } },
  ],
  [
    'retain fewer keys than the patch has',
    'Service',
    { spec: {} },
    { spec: { $retainKeys: ['a'], b: 1 } },
    'invalid patch format of retainKeys',
  ],
  ['retain no list', 'Service', { spec: {} }, { spec: { $retainKeys: 'a' } }, 'invalid patch format of retainKeys'],
  [
    'order that is no list',
    'Service',
    service(),
    { spec: { '$setElementOrder/ports': 1 } },
    'invalid patch format of setElementOrder list',
  ],
  [
    'deletion that is no list',
    'Secret',
    finalizers(),
    { metadata: { '$deleteFromPrimitiveList/finalizers': 'a' } },
    'invalid patch format of primitive list',
  ],
  [
    'scalars in place of objects',
    'Service',
    service({ port: 80 }),
    { spec: { ports: [80] } },
    'list element types are not identical',
  ],
  ['lists in lists', 'Service', service(), { spec: { ports: [[80]] } }, 'lists of lists are not supported'],
  [
    'directives in a new object',
    'Pod',
    {},
    {
      spec: {
        '$setElementOrder/volumes': [{ name: 'v' }],
        volumes: [
          { name: 'v', $retainKeys: ['name'] },
          { $patch: 'delete', name: 'w' },
        ],
        nodeSelector: { $patch: 'delete' },
      },
    },
    { spec: { volumes: [{ name: 'v' }] } },
  ],
])('%s', (_, kind, object, patch, result) => {
  const before = structuredClone(object)
  const { value, failure } = apply(kind, object, patch)
  if (typeof result === 'string') expect(failure?.message).toBe(result)
  else expect(value).toEqual(result)
  expect(object).toEqual(before)
})

describe('names of members', () => {
  test('__proto__ is a member like others', () => {
    const patch = parseJson('{"data":{"__proto__":{"polluted":true}}}')
    expect(JSON.stringify(apply('ConfigMap', { data: {} }, patch).value)).toBe(
      '{"data":{"__proto__":{"polluted":true}}}',
    )
    expect(({} as { polluted?: boolean }).polluted).toBeUndefined()
  })

  test('a patch that is no object', () => {
    const message = 'error decoding patch: a merge patch is an object'
    expect(apply('Service', {}, [])).toEqual({ failure: { reason: 'BadRequest', message } })
  })
})
