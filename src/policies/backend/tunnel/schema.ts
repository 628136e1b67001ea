import { backendObjectReference, described, object, type Parsed, required } from '#schema/index.ts'

/** `backend.tunnel` (specification 2, 2.3). */
export const backendTunnel = described(
  'A proxy server to go through.',
  object({
    backendRef: required(backendObjectReference(), 'The proxy server to go through: a Service or a ProxyBackend.'),
  }),
)

export type BackendTunnelSpec = Parsed<typeof backendTunnel>
