import { expect, test } from 'vitest'
import { objectKey } from '#api/object.ts'
import { admitObject } from '#test/support/admit-object.ts'
import { Translator } from '../translator.ts'

/* What refers to an object that the sources contain, but that is invalid, says so; it is not a missing object. */

const GATEWAY = 'gateway.networking.k8s.io'
const gateway = admitObject({
  kind: 'Gateway',
  metadata: { name: 'main' },
  spec: { gatewayClassName: 'gatewright', listeners: [{ name: 'http', port: 8080, protocol: 'HTTP' }] },
})
const route = admitObject({
  kind: 'HTTPRoute',
  metadata: { name: 'shop' },
  spec: {
    parentRefs: [{ name: 'main' }],
    rules: [{ backendRefs: [{ group: 'gatewright.dev', kind: 'ProxyBackend', name: 'server' }] }],
  },
})
const backend = admitObject({
  kind: 'ProxyBackend',
  metadata: { name: 'server' },
  spec: { static: { host: '127.0.0.1', port: 9000 } },
})
const policyOf = (kind: string, name: string) =>
  admitObject({
    kind: 'ProxyPolicy',
    metadata: { name: 'limits' },
    spec: { targetRefs: [{ group: GATEWAY, kind, name }], traffic: { csrf: {} } },
  })

const keys = (...names: readonly (readonly [kind: string, name: string])[]) =>
  new Set(names.map(([kind, name]) => objectKey(kind, kind === 'GatewayClass' ? '' : 'default', name)))

const codesOf = (translator: Translator) =>
  translator.findings.map(({ origin, path, code }) => `${origin.kind} ${path} ${code}`)

/** The codes of the findings, and the condition ResolvedRefs of the route. */
function shown(translator: Translator) {
  const status = translator.translation.statuses.find(({ kind }) => kind === 'HTTPRoute')
    ?.status as unknown as RouteStatus
  const resolved = status.parents[0]?.conditions.find(({ type }) => type === 'ResolvedRefs')
  return { codes: codesOf(translator), resolvedRefs: `${resolved?.status} ${resolved?.reason}: ${resolved?.message}` }
}

interface RouteStatus {
  readonly parents: readonly { readonly conditions: readonly Readonly<Record<string, string>>[] }[]
}

test('the status of a route reports that its backend has errors, until the backend is correct or removed', () => {
  const translator = new Translator()
  const refused = {
    codes: ['HTTPRoute spec.rules[0].backendRefs[0] object-refused'],
    resolvedRefs: 'False BackendNotFound: ProxyBackend default/server has errors and is not in use',
  }
  translator.apply({ set: [gateway, route], removed: [], refused: keys(['ProxyBackend', 'server']) })
  expect(shown(translator)).toEqual(refused)

  translator.apply({ set: [backend], removed: [], refused: new Set() })
  expect(shown(translator)).toEqual({ codes: [], resolvedRefs: 'True ResolvedRefs: All references resolved' })

  translator.apply({ set: [], removed: [backend] })
  expect(shown(translator)).toEqual({
    codes: ['HTTPRoute spec.rules[0].backendRefs[0] backend-not-found'],
    resolvedRefs: 'False BackendNotFound: ProxyBackend default/server not found',
  })

  translator.apply({ set: [], removed: [], refused: keys(['ProxyBackend', 'server']) })
  expect(shown(translator)).toEqual(refused)
  translator.apply({ set: [], removed: [] }) // as before
  expect(shown(translator)).toEqual(refused)
})

test.each([
  ['a parent', [route], ['Gateway', 'main'], 'HTTPRoute spec.parentRefs[0] object-refused'],
  [
    'the target of a policy',
    [gateway, policyOf('HTTPRoute', 'shop')],
    ['HTTPRoute', 'shop'],
    'ProxyPolicy spec.targetRefs[0] object-refused',
  ],
  ['the only Gateway', [], ['Gateway', 'main'], 'GatewayClass  object-refused'],
  [
    'a class',
    [{ ...gateway, spec: { ...(gateway as { spec?: object }).spec, gatewayClassName: 'mine' } }],
    ['GatewayClass', 'mine'],
    'Gateway spec.gatewayClassName object-refused',
  ],
] as const)('%s that has errors', (_, objects, object, found) => {
  const translator = new Translator()
  translator.apply({ set: objects, removed: [], refused: keys(object) })
  expect(codesOf(translator)).toContain(found)
  expect(codesOf(translator).join()).not.toMatch(/(?:parent|target|class)-not-found|no-gateway/)
  translator.apply({ set: [], removed: [], refused: new Set() })
  expect(codesOf(translator)).not.toContain(found)
})

test.each([
  ['Gateway', 'main', 'no port is open: Gateway default/main has errors and is not in use'],
  ['HTTPRoute', 'main', 'there is no Gateway, so no port is open; create one with gatewayClassName gatewright'],
])('without a Gateway, a refused %s is the reason if it is one', (kind, name, message) => {
  const translator = new Translator()
  translator.apply({ set: [], removed: [], refused: keys([kind, name]) })
  expect(translator.findings.map((finding) => finding.message)).toEqual([message])
})
