import type { ApiObject } from '#api/object.ts'
import { admitObject } from '#test/support/admit-object.ts'

/** Routes that share a Service. */
const ROUTES_OF_SERVICE = 100

/** No route uses them at the start. */
export const OTHER_SERVICES = ['other-0', 'other-1']

/** How much there is of everything; routes and proxies are spread evenly over the Gateways. */
export interface Scale {
  readonly proxies: number
  readonly gateways: number
  readonly routes: number
}

/** The objects at the start: Gateways, routes, and Services with endpoints. */
export function objectsOf(scale: Scale): readonly ApiObject[] {
  const services = Math.ceil(scale.routes / ROUTES_OF_SERVICE)
  const each = <T>(count: number, make: (at: number) => T) => Array.from({ length: count }, (_, at) => make(at))
  return [
    admitObject({
      kind: 'GatewayClass',
      metadata: { name: 'gatewright' },
      spec: { controllerName: 'gatewright.dev/controller' },
    }),
    ...each(scale.gateways, gateway),
    ...each(services, (at) => service(serviceName(at * ROUTES_OF_SERVICE))),
    ...OTHER_SERVICES.map(service),
    ...each(services, (at) => slice(at, 0)),
    ...each(scale.routes, (at) => route(scale, at, 0)),
  ]
}

export function gatewayName(at: number): string {
  return `gateway-${at}`
}

function gateway(at: number): ApiObject {
  return admitObject({
    kind: 'Gateway',
    metadata: { name: gatewayName(at) },
    spec: { gatewayClassName: 'gatewright', listeners: [{ name: 'http', port: 80, protocol: 'HTTP' }] },
  })
}

/** @param edit changes the path @param service that it leads to; default: that of its hundred */
export function route({ gateways }: Scale, at: number, edit: number, service = serviceName(at)): ApiObject {
  return admitObject({
    kind: 'HTTPRoute',
    metadata: { name: `route-${at}` },
    spec: {
      parentRefs: [{ name: gatewayName(at % gateways) }],
      hostnames: [`host-${at % 500}.test`],
      rules: [
        {
          matches: [{ path: { type: 'PathPrefix', value: `/path-${at}/v${edit}` } }],
          backendRefs: [{ name: service, port: 80 }],
        },
      ],
    },
  })
}

function serviceName(ofRoute: number): string {
  return `service-${Math.floor(ofRoute / ROUTES_OF_SERVICE)}`
}

function service(name: string): ApiObject {
  return admitObject({ kind: 'Service', metadata: { name }, spec: { ports: [{ port: 80 }] } })
}

/** The ten endpoints of a Service. @param edit replaces one */
export function slice(at: number, edit: number): ApiObject {
  const addresses = Array.from({ length: 10 }, (_, i) => `10.0.${i === 0 ? edit % 250 : 251}.${i + 1}`)
  return admitObject({
    kind: 'EndpointSlice',
    metadata: { name: `slice-${at}`, labels: { 'kubernetes.io/service-name': `service-${at}` } },
    addressType: 'IPv4',
    endpoints: addresses.map((address) => ({ addresses: [address] })),
    ports: [{ port: 8080 }],
  })
}
