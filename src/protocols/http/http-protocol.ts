import type { BackendHttpSpec } from '#policies/backend/http/schema.ts'
import { ANY_ADDRESS, endpointAddress, hostAddress, hostnameOf, socketAddress } from '../address.ts'
import type { BackendProtocol } from '../backend-protocol.ts'
import { dynamicForwardProxyBackend, type StaticBackendSpec, staticBackend } from './backend-schema.ts'

/** Time limit for a response head if no policy sets one (docs/behaviour/wire.md, "Limits"). */
const RESPONSE_TIMEOUT_MS = 300_000

/** A host and port, or a socket, that speaks plain HTTP (specification 1, 2.3.1). */
export const staticHttp = {
  name: 'http',
  schema: staticBackend,
  responseTimeoutMs: RESPONSE_TIMEOUT_MS,
  rewritesHost: true,
  addresses: ({ spec: { host = '', port = 0, unixPath } }) => [
    [unixPath === undefined ? hostAddress({ host, port }) : socketAddress(unixPath)],
  ],
} as const satisfies BackendProtocol<StaticBackendSpec> & { readonly schema: unknown }

/** The server of an identity provider, at the address that its issuer is. Requests have the host of the issuer. */
export const issuerHttp = {
  name: 'http',
  responseTimeoutMs: RESPONSE_TIMEOUT_MS,
  rewritesHost: false,
  addresses: ({ spec: { host, port, tls } }) => [[hostAddress({ host, port }, undefined, tls)]],
} as const satisfies BackendProtocol<{ readonly host: string; readonly port: number; readonly tls: boolean }>

/** Any server: each request names its own (specification 1, 2.3). Its host is that of the request, so no rewrite applies. */
export const forwardProxyHttp = {
  name: 'http',
  schema: dynamicForwardProxyBackend,
  responseTimeoutMs: RESPONSE_TIMEOUT_MS,
  rewritesHost: false,
  addresses: () => [[ANY_ADDRESS]],
} as const satisfies BackendProtocol<unknown> & { readonly schema: unknown }

/** A port of a Service. */
export interface ServiceSpec {
  readonly hostname: string
  readonly port: number
  readonly appProtocol?: string
}

/** Values of `appProtocol` that name a version: those of Kubernetes, and those in common use. */
const VERSIONS: ReadonlyMap<string, BackendHttpSpec['version']> = new Map([
  ['kubernetes.io/h2c', 'HTTP2'],
  ['h2c', 'HTTP2'],
  ['http2', 'HTTP2'],
  ['grpc', 'HTTP2'],
  ['kubernetes.io/ws', 'HTTP1'],
  ['kubernetes.io/wss', 'HTTP1'],
  ['ws', 'HTTP1'],
  ['wss', 'HTTP1'],
  ['http', 'HTTP1'],
])

/** The ready endpoints of a Service. */
export const serviceHttp = {
  name: 'http',
  responseTimeoutMs: RESPONSE_TIMEOUT_MS,
  rewritesHost: false,
  addresses: ({ namespace, name, spec: { hostname: host, port, appProtocol = '' } }, endpointsOf) => {
    const hostname = hostnameOf(host)
    const version = VERSIONS.get(appProtocol)
    const endpoints = endpointsOf(`${namespace}/${name}/${port}`) ?? []
    return [endpoints.map((endpoint) => ({ ...endpointAddress(endpoint), hostname, version }))]
  },
} as const satisfies BackendProtocol<ServiceSpec>
