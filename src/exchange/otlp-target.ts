import type { Expression } from './expression.ts'

/** Where log entries or spans are exported over OTLP: `frontend.accessLog.otlp` or `frontend.tracing`, compiled. */
export interface OtlpTarget {
  readonly signal: 'logs' | 'traces'
  /** Key of the backend in the plan. */
  readonly backend: string
  readonly protocol: 'GRPC' | 'HTTP'
  /** Of protocol HTTP. */
  readonly path: string
  /** Attributes of the entity that exports, in addition to the default ones. */
  readonly resources: readonly { readonly name: string; readonly expression: Expression }[]
  /** Targets with the same key share a queue, also after the plan has changed. */
  readonly key: string
}

/** @param spec without its key */
export function otlpTarget(spec: Omit<OtlpTarget, 'key'>): OtlpTarget {
  const { signal, backend, protocol, path, resources } = spec
  const attributes = resources.map(({ name, expression }) => [name, expression.source])
  return { ...spec, key: JSON.stringify([signal, backend, protocol, path, attributes]) }
}
