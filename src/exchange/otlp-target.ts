import type { Json } from '#base/json.ts'
import type { GatewayIdentity } from './gateway-identity.ts'

/** Where log entries or spans are exported over OTLP: `frontend.accessLog.otlp` or `frontend.tracing`, compiled. */
export interface OtlpTarget {
  readonly signal: 'logs' | 'traces'
  /** Key of the backend in the plan. */
  readonly backend: string
  readonly protocol: 'GRPC' | 'HTTP'
  /** Of protocol HTTP. */
  readonly path: string
  /** Attributes of the entity that exports, which win over the default ones. */
  readonly resource: (gateway: GatewayIdentity) => readonly (readonly [name: string, value: Json])[]
  /** Targets with the same key share a queue, also after the plan has changed. */
  readonly key: string
}
