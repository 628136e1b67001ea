import { expect, test } from 'vitest'
import type { ApiObject } from '#api/object.ts'
import { admitObject } from '#test/support/admit-object.ts'
import { Translator } from './translator.ts'

const GATEWAY = 'gateway.networking.k8s.io'
const OWN = 'gatewright.dev'

const named = (kind: string, name: string, spec: unknown, more: object = {}): ApiObject =>
  admitObject({ kind, metadata: { name, namespace: 'default', ...more }, spec })
const gateway = (i: number, port = 8000 + i) =>
  named('Gateway', `g${i}`, {
    gatewayClassName: 'gatewright',
    listeners: [{ name: 'http', port, protocol: 'HTTP' }],
  })
const route = (i: number, parent: string, backend: object, path = '/', hostname = `h${i}.test`) =>
  named('HTTPRoute', `r${i}`, {
    parentRefs: [{ name: parent }],
    hostnames: [hostname],
    rules: [{ matches: [{ path: { type: 'PathPrefix', value: path } }], backendRefs: [backend] }],
  })
const policy = (name: string, target: object, seconds: number) =>
  named('ProxyPolicy', name, { targetRefs: [target], traffic: { timeouts: { request: `${seconds}s` } } })
const SHARED = named('ProxyBackend', 'shared', { static: { host: '127.0.0.1', port: 1 } })
const TO_SHARED = { group: OWN, kind: 'ProxyBackend', name: 'shared' }
const range = <T>(count: number, make: (i: number) => T) => Array.from({ length: count }, (_, i) => make(i))

interface Shape {
  readonly name: string
  readonly objects: (size: number) => ApiObject[]
  readonly edit: () => ApiObject
  /** Maximum factor by which the cost of an edit grows when there are four times as many objects. */
  readonly editGrowth: number
}

const SHAPES: readonly Shape[] = [
  {
    name: 'routes at one Gateway, a policy at each',
    objects: (size) => [
      gateway(0),
      SHARED,
      ...range(size, (i) => route(i, 'g0', TO_SHARED)),
      ...range(size, (i) => policy(`p${i}`, { group: GATEWAY, kind: 'HTTPRoute', name: `r${i}` }, 1)),
    ],
    edit: () => route(1, 'g0', TO_SHARED, '/edited'),
    editGrowth: 1,
  },
  {
    name: 'routes with the same match',
    objects: (size) => [gateway(0), SHARED, ...range(size, (i) => route(i, 'g0', TO_SHARED, '/', 'h.test'))],
    edit: () => route(0, 'g0', TO_SHARED, '/edited', 'h.test'),
    editGrowth: 4.5,
  },
  {
    name: 'Gateways that share a backend, a policy at each',
    objects: (size) => [
      SHARED,
      ...range(size, (i) => gateway(i)),
      ...range(size, (i) => route(i, `g${i}`, TO_SHARED)),
      ...range(size, (i) => policy(`p${i}`, { group: GATEWAY, kind: 'Gateway', name: `g${i}` }, 1)),
    ],
    edit: () => policy('p1', { group: GATEWAY, kind: 'Gateway', name: 'g1' }, 2),
    editGrowth: 1,
  },
  {
    name: 'Gateways that share a backend, with policies of their own on it',
    objects: (size) => [
      SHARED,
      ...range(size, (i) => gateway(i)),
      ...range(size, (i) => route(i, `g${i}`, TO_SHARED)),
      ...range(size, (i) =>
        named('ProxyPolicy', `p${i}`, { targetRefs: [TO_SHARED], backend: { tls: { sni: `s${i}.test` } } }),
      ),
    ],
    edit: () => gateway(1, 7000),
    editGrowth: 4.5,
  },
  {
    name: 'Services with endpoints',
    objects: (size) => [
      gateway(0),
      ...range(size, (i) => route(i, 'g0', { name: `s${i}`, port: 80 })),
      ...range(size, (i) => named('Service', `s${i}`, { ports: [{ port: 80 }] })),
      ...range(size, (i) => slice(i, '127.0.0.1')),
    ],
    edit: () => slice(1, '127.0.0.2'),
    editGrowth: 1,
  },
]

function slice(i: number, address: string): ApiObject {
  return admitObject({
    kind: 'EndpointSlice',
    metadata: { name: `e${i}`, labels: { 'kubernetes.io/service-name': `s${i}` } },
    addressType: 'IPv4',
    endpoints: [{ addresses: [address] }],
    ports: [{ port: 8080 }],
  })
}

function workOf({ objects, edit }: Shape, size: number): { readonly start: number; readonly edit: number } {
  const translator = new Translator()
  translator.apply({ set: objects(size), removed: [] })
  const start = translator.work
  translator.apply({ set: [edit()], removed: [] })
  return { start, edit: translator.work - start }
}

test.each(SHAPES)('the work grows no faster than the number of objects: $name', (shape) => {
  const small = workOf(shape, 50)
  const big = workOf(shape, 200)
  expect(big.start / small.start).toBeLessThan(4.5)
  expect(big.edit).toBeGreaterThan(0)
  expect(big.edit / small.edit).toBeLessThanOrEqual(shape.editGrowth)
})
