import { host, object, type Parsed, port, required } from '#schema/index.ts'

/** `ProxyBackend.spec.a2a` (specification 1, 2.3.2). */
export const a2aBackend = object({
  host: required(host(), 'Hostname or IP address.'),
  port: required(port(), 'TCP port.'),
})

export type A2aBackendSpec = Parsed<typeof a2aBackend>
