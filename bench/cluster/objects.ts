/** Objects of the benchmark, in one namespace of a cluster. */

export const NAMESPACE = 'gatewright-bench'
export const CLASS = 'gatewright-bench'
export const CONTROLLER = 'gatewright.dev/bench'
export const GATEWAY = 'main'

const GATEWAY_GROUP = 'gateway.networking.k8s.io'
const OWN_GROUP = 'gatewright.dev'
const ROUTES_OF_SERVICE = 100
const ROUTES_OF_POLICY = 50

interface BenchObject {
  readonly apiVersion: string
  readonly kind: string
  readonly metadata: object
}

/** With the path of its list. */
export interface Placed {
  readonly list: string
  readonly object: BenchObject
}

function placed(apiVersion: string, kind: string, plural: string, name: string, content: object): Placed {
  const root = apiVersion.includes('/') ? `/apis/${apiVersion}` : `/api/${apiVersion}`
  const isOfCluster = kind === 'Namespace' || kind === 'GatewayClass'
  const list = isOfCluster ? `${root}/${plural}` : `${root}/namespaces/${NAMESPACE}/${plural}`
  const metadata = isOfCluster ? { name } : { name, namespace: NAMESPACE }
  return { list, object: { apiVersion, kind, metadata, ...content } }
}

export function routeName(at: number): string {
  return `route-${at}`
}

/** A route with a backend; `/<name>/now` redirects to a place that says which edit is in force. */
export function route(at: number, edit: number): Placed {
  const name = routeName(at)
  const redirect = {
    type: 'RequestRedirect',
    requestRedirect: { path: { type: 'ReplaceFullPath', replaceFullPath: `/${edit}` } },
  }
  return placed(`${GATEWAY_GROUP}/v1`, 'HTTPRoute', 'httproutes', name, {
    spec: {
      parentRefs: [{ name: GATEWAY }],
      rules: [
        { matches: [{ path: { type: 'Exact', value: `/${name}/now` } }], filters: [redirect] },
        {
          matches: [{ path: { type: 'PathPrefix', value: `/${name}` } }],
          backendRefs: [{ name: `service-${Math.floor(at / ROUTES_OF_SERVICE)}`, port: 80 }],
        },
      ],
    },
  })
}

/** What has to exist before the Gateway and its routes. @param port of the listener */
export function surroundings(port: number): readonly Placed[] {
  const parametersRef = { group: OWN_GROUP, kind: 'ProxyParameters', name: 'no-pods' }
  return [
    placed('v1', 'Namespace', 'namespaces', NAMESPACE, {}),
    placed(`${GATEWAY_GROUP}/v1`, 'GatewayClass', 'gatewayclasses', CLASS, { spec: { controllerName: CONTROLLER } }),
    // The proxy that is measured is a process of this machine.
    placed(`${OWN_GROUP}/v1alpha1`, 'ProxyParameters', 'proxyparameters', 'no-pods', {
      spec: { deployment: { spec: { replicas: 0 } } },
    }),
    placed(`${GATEWAY_GROUP}/v1`, 'Gateway', 'gateways', GATEWAY, {
      spec: {
        gatewayClassName: CLASS,
        listeners: [{ name: 'http', port, protocol: 'HTTP' }],
        infrastructure: { parametersRef },
      },
    }),
  ]
}

/** Routes with their Services and policies. */
export function load(routes: number): readonly Placed[] {
  const all = Array.from({ length: routes }, (_, at) => at)
  const every = (step: number) => all.filter((at) => at % step === 0)
  return [
    ...every(ROUTES_OF_SERVICE).map((at) =>
      placed('v1', 'Service', 'services', `service-${at / ROUTES_OF_SERVICE}`, { spec: { ports: [{ port: 80 }] } }),
    ),
    ...every(ROUTES_OF_POLICY).map((at) =>
      placed(`${OWN_GROUP}/v1alpha1`, 'ProxyPolicy', 'proxypolicies', `policy-${at}`, {
        spec: {
          targetRefs: [{ group: GATEWAY_GROUP, kind: 'HTTPRoute', name: routeName(at) }],
          traffic: { headerModifiers: { response: { set: [{ name: 'x-policy', value: `${at}` }] } } },
        },
      }),
    ),
    ...all.map((at) => route(at, 0)),
  ]
}
