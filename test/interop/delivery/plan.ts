import type { ApiObject } from '#api/object.ts'
import { admitObject } from '../../support/admit-object.ts'

/** The Gateway of all checks. */
export const GATEWAY = 'Gateway/default/main'

const named = (kind: string, name: string, spec: object): ApiObject =>
  admitObject({ kind, metadata: { name, namespace: 'default' }, spec })

/** A Gateway with one listener, and a ProxyBackend `b`. */
export function frameObjects(port: number, upstreamPort: number): readonly ApiObject[] {
  return [
    named('Gateway', 'main', { gatewayClassName: 'gatewright', listeners: [{ name: 'http', port, protocol: 'HTTP' }] }),
    named('ProxyBackend', 'b', { static: { host: '127.0.0.1', port: upstreamPort } }),
  ]
}

/** A Service with one endpoint. */
export function serviceObjects(name: string, address: string): readonly ApiObject[] {
  const labels = { 'kubernetes.io/service-name': name }
  return [
    named('Service', name, { ports: [{ port: 80 }] }),
    admitObject({
      kind: 'EndpointSlice',
      metadata: { name: `${name}-1`, namespace: 'default', labels },
      addressType: 'IPv4',
      endpoints: [{ addresses: [address] }],
      ports: [{ port: 8080 }],
    }),
  ]
}

/** What routes lead to. */
const PROXY_BACKEND = { group: 'gatewright.dev', kind: 'ProxyBackend', name: 'b' }
export const service = (name: string) => ({ name, port: 80 })

/** A route for a path. */
export function route(name: string, path: string, backend: object = PROXY_BACKEND): ApiObject {
  const matches = [{ path: { type: 'PathPrefix', value: path } }]
  return named('HTTPRoute', name, { parentRefs: [{ name: 'main' }], rules: [{ matches, backendRefs: [backend] }] })
}

/** A route that is 8 KiB large. */
export function largeRoute(name: string): ApiObject {
  const set = ['a', 'b'].map((header) => ({ name: `x-${header}`, value: header.repeat(4096) }))
  const filters = [{ type: 'RequestHeaderModifier', requestHeaderModifier: { set } }]
  const matches = [{ path: { type: 'PathPrefix', value: `/${name}` } }]
  const rules = [{ matches, filters, backendRefs: [PROXY_BACKEND] }]
  return named('HTTPRoute', name, { parentRefs: [{ name: 'main' }], rules })
}
