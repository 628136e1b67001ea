import type { Origin } from '#base/origin.ts'

/** What one step did to one exchange, in words; collected for `explain` only. */
export interface TraceStep {
  readonly stage: 'pre-routing' | 'routing' | 'post-routing' | 'backend' | 'response'
  readonly name: string
  readonly verdict: 'proceed' | 'refuse' | 'answer'
  readonly detail: string | undefined
  readonly origins: readonly { readonly origin: Origin; readonly path: string }[]
}

/** Where in a request a credential stands. */
export interface WrittenCredential {
  readonly kind: 'header' | 'queryParameter' | 'cookie'
  readonly name: string
}

/** Collects what happened to one exchange. */
export interface Trace {
  step(step: TraceStep): void
  /** A credential of the gateway was written into this field, query parameter or cookie of the request. */
  credential(kind: WrittenCredential['kind'], name: string): void
}
