import { backendObjectReference, described, object, type Parsed, required } from '#schema/index.ts'

/** `backend.tunnel` (specification 2, 2.3). */
export const backendTunnel = described(
  'Connect to the backend through a proxy server.',
  object({
    backendRef: required(backendObjectReference(), 'Service or ProxyBackend of the proxy server.'),
  }),
)

export type BackendTunnelSpec = Parsed<typeof backendTunnel>
