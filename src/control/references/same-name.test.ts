import { expect, test } from 'vitest'
import { admitObject } from '#test/support/admit-object.ts'
import { Translator } from '../translator.ts'

/* A reference to an object that does not exist names an object of another kind that has this name. */

const GROUP = 'gateway.networking.k8s.io'
const gateway = (more: object = {}) =>
  admitObject({
    kind: 'Gateway',
    metadata: { name: 'main' },
    spec: {
      gatewayClassName: 'gatewright',
      listeners: [{ name: 'http', port: 8080, protocol: 'HTTP' }],
      ...more,
    },
  })
const route = (name: string, backendRef: object, parentRef: object = { name: 'main' }) =>
  admitObject({
    kind: 'HTTPRoute',
    metadata: { name },
    spec: { parentRefs: [parentRef], rules: [{ backendRefs: [backendRef] }] },
  })
const backend = (name: string, spec: object = { static: { host: '127.0.0.1', port: 9000 } }) =>
  admitObject({ kind: 'ProxyBackend', metadata: { name }, spec })
const service = admitObject({ kind: 'Service', metadata: { name: 'cart' }, spec: { ports: [{ port: 80 }] } })
const map = admitObject({ kind: 'ConfigMap', metadata: { name: 'trust' }, data: {} })
const secret = admitObject({ kind: 'Secret', metadata: { name: 'keys' }, data: {} })
const policy = (target: object, spec: object) =>
  admitObject({ kind: 'ProxyPolicy', metadata: { name: 'p' }, spec: { targetRefs: [target], ...spec } })
const authorities = (kind: string, name: string) => ({
  tls: { frontend: { default: { validation: { caCertificateRefs: [{ group: '', kind, name }] } } } },
  listeners: [{ name: 'https', port: 8443, protocol: 'HTTPS', tls: { certificateRefs: [{ name: 'trust' }] } }],
})

test.each([
  [
    'a Service',
    [gateway(), route('r', { name: 'server', port: 80 }), backend('server')],
    'Service default/server not found; for ProxyBackend default/server, set group gatewright.dev and kind ProxyBackend',
  ],
  [
    'a ProxyBackend',
    [gateway(), route('r', { group: 'gatewright.dev', kind: 'ProxyBackend', name: 'cart' }), service],
    'ProxyBackend default/cart not found; for Service default/cart, set group "" and kind Service',
  ],
  [
    'the Service of an MCP target',
    [
      backend('tools', { mcp: { targets: [{ name: 'a', static: { backendRef: { name: 'server' }, port: 80 } }] } }),
      backend('server'),
    ],
    'Service default/server not found; ProxyBackend default/server exists, but a Service is required here',
  ],
  [
    'a ListenerSet',
    [gateway(), route('r', { name: 'cart', port: 80 }, { kind: 'ListenerSet', name: 'main' }), service],
    'ListenerSet default/main not found; for Gateway default/main, set kind Gateway',
  ],
  [
    'a certificate',
    [gateway(authorities('ConfigMap', 'trust')), map],
    'Secret default/trust not found; ConfigMap default/trust exists, but a Secret is required here',
  ],
  [
    'authorities',
    [gateway(authorities('ConfigMap', 'keys')), secret],
    'ConfigMap default/keys not found; for Secret default/keys, set kind Secret',
  ],
  [
    'a Secret of a policy',
    [
      policy({ group: '', kind: 'Service', name: 'cart' }, { backend: { auth: { secretRef: { name: 'trust' } } } }),
      service,
      map,
    ],
    'Secret default/trust not found; ConfigMap default/trust exists, but a Secret is required here',
  ],
  [
    'a target',
    [gateway(), policy({ group: GROUP, kind: 'HTTPRoute', name: 'main' }, { traffic: { csrf: {} } })],
    'nothing is protected by this policy. Policy is not attached: HTTPRoute default/main not found; for Gateway default/main, set kind Gateway',
  ],
  [
    'a target that the policy cannot have',
    [service, policy({ group: GROUP, kind: 'Gateway', name: 'cart' }, { traffic: { csrf: {} } })],
    'nothing is protected by this policy. Policy is not attached: Gateway default/cart not found',
  ],
  [
    'an object with a similar name only',
    [gateway(), route('r', { name: 'carts', port: 80 }), service],
    'Service default/carts not found; did you mean "cart"?',
  ],
])('%s', (_, objects, message) => {
  const translator = new Translator()
  translator.apply({ set: objects, removed: [] })
  expect(translator.findings.map((finding) => finding.message)).toContain(message)
  const names = objects.filter(({ kind }) => message.includes(`; for ${kind} `) || message.includes(`; ${kind} `))
  if (names.length === 0) return
  translator.apply({ set: [], removed: names })
  expect(translator.findings.map((finding) => finding.message)).not.toContain(message)
})

test('an object with errors is named, too', () => {
  const translator = new Translator()
  const refused = new Set(['ProxyBackend/default/server'])
  translator.apply({ set: [gateway(), route('r', { name: 'server', port: 80 })], removed: [], refused })
  expect(translator.findings.map(({ message }) => message)).toContain(
    'Service default/server not found; for ProxyBackend default/server, set group gatewright.dev and kind ProxyBackend',
  )
})
