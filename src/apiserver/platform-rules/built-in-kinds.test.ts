import { expect, test } from 'vitest'
import { definitionKind } from '../custom-resources/definition-kind.ts'
import { reviewKinds } from '../kinds/review-kinds.ts'
import { builtInKinds } from './built-in-kinds.ts'

const KINDS = builtInKinds()

function kind(name: string, version: string) {
  return KINDS.find((each) => each.kind === name && each.version === version)!
}

test('every version of a kind is served, stored in the first', () => {
  const versions = KINDS.filter((each) => each.kind === 'TLSRoute').map(({ version }) => version)
  expect(versions).toEqual(['v1', 'v1alpha3', 'v1alpha2'])
  expect(kind('TLSRoute', 'v1alpha2')).toMatchObject({ storageVersion: 'v1', plural: 'tlsroutes', hasStatus: true })
})

test('the version in which objects of a kind are stored is served', () => {
  const all = [...KINDS, ...reviewKinds(), definitionKind()]
  const served = new Set(all.map(({ group, kind, version }) => `${group}/${version} ${kind}`))
  const stored = all.map(({ group, kind, storageVersion }) => `${group}/${storageVersion} ${kind}`)
  expect(stored.filter((each) => !served.has(each))).toEqual([])
})

const BACKEND = {
  apiVersion: 'gatewright.dev/v1alpha1',
  kind: 'ProxyBackend',
  metadata: { name: 'b', namespace: 'default' },
}

test('a refused object has all causes, with the paths of their fields', () => {
  const { admit } = kind('ProxyBackend', 'v1alpha1')
  const spec = { static: { host: '', port: 'x' }, more: 1 }
  const { object, causes } = admit({ ...BACKEND, spec }, { unknownFields: 'refuse' })
  expect(object).toBeUndefined()
  expect(causes.map(({ field, reason }) => [field, reason])).toEqual([
    ['spec.static.host', 'FieldValueInvalid'],
    ['spec.static.port', 'FieldValueTypeInvalid'],
    ['spec.more', 'FieldValueInvalid'],
  ])
})

test('a misspelt condition of a route is refused, although the Gateway API drops unknown fields', () => {
  const { admit } = kind('HTTPRoute', 'v1')
  const written = {
    apiVersion: 'gateway.networking.k8s.io/v1',
    kind: 'HTTPRoute',
    metadata: { name: 'r', namespace: 'default' },
    spec: { rules: [{ matches: [{ methods: 'GET' }] }] },
  }
  const { object, causes } = admit(written, { unknownFields: 'refuse' })
  expect([object, causes.map(({ field }) => field)]).toEqual([undefined, ['spec.rules[0].matches[0].methods']])
})

test('unknown fields are refused, reported or dropped as the client wants', () => {
  const { admit } = kind('ProxyBackend', 'v1alpha1')
  const written = { ...BACKEND, spec: { static: { host: 'a.test', port: 80 }, more: 1 } }
  const { object, warnings } = admit(written, { unknownFields: 'warn' })
  expect([object?.spec, warnings]).toEqual([
    { static: { host: 'a.test', port: 80 } },
    [expect.stringContaining('spec.more')],
  ])
  expect(admit(written, { unknownFields: 'ignore' })).toMatchObject({ warnings: [], causes: [] })
})
