import { expect, test } from 'vitest'
import { admitObject } from '#test/support/admit-object.ts'
import { translate } from '../translate.ts'

/** Whether these grants permit a route in namespace default to refer to a Service. */
function isPermitted(grants: readonly object[], service = { name: 'a', namespace: 'other' }): boolean {
  const { findings } = translate(
    [
      {
        kind: 'Gateway',
        metadata: { name: 'main' },
        spec: { gatewayClassName: 'gatewright', listeners: [{ name: 'http', port: 8080, protocol: 'HTTP' }] },
      },
      {
        kind: 'HTTPRoute',
        metadata: { name: 'shop' },
        spec: { parentRefs: [{ name: 'main' }], rules: [{ backendRefs: [{ ...service, port: 80 }] }] },
      },
      {
        kind: 'Service',
        metadata: service,
        spec: { type: 'ExternalName', externalName: 'a.example', ports: [{ port: 80 }] },
      },
      ...grants,
    ].map(admitObject),
  )
  return !findings.some(({ code }) => code === 'reference-not-permitted')
}

let count = 0
function grant(from: object = {}, to: object = {}, namespace = 'other'): object {
  return {
    kind: 'ReferenceGrant',
    metadata: { name: `grant-${count++}`, namespace },
    spec: {
      from: [{ group: 'gateway.networking.k8s.io', kind: 'HTTPRoute', namespace: 'default', ...from }],
      to: [{ group: '', kind: 'Service', ...to }],
    },
  }
}

test.each<[what: string, grants: readonly object[], permitted: boolean]>([
  ['a grant of all names', [grant()], true],
  ['a grant of this name', [grant({}, { name: 'a' })], true],
  ['no grant', [], false],
  ['a grant of another name', [grant({}, { name: 'b' })], false],
  ['a grant elsewhere', [grant({}, {}, 'third')], false],
  ['a grant where the reference comes from', [grant({}, {}, 'default')], false],
  ['a grant from another namespace', [grant({ namespace: 'third' })], false],
  ['a grant from another kind', [grant({ kind: 'GRPCRoute' })], false],
  ['a grant from a kind of the empty group', [grant({ group: '' })], false],
  ['a grant to another kind', [grant({}, { kind: 'Secret' })], false],
  ['a grant to a kind of another group', [grant({}, { group: 'gatewright.dev' })], false],
  ['one of several', [grant({}, { name: 'b' }), grant({}, { name: 'a' })], true],
  ['two that fit only together', [grant({ kind: 'GRPCRoute' }), grant({}, { kind: 'Secret' })], false],
])('%s', (_, grants, permitted) => {
  expect(isPermitted(grants)).toBe(permitted)
})

test('references within one namespace require no grant', () => {
  expect(isPermitted([], { name: 'a', namespace: 'default' })).toBe(true)
})
