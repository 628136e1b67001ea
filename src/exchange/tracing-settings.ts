import type { Expression } from './expression.ts'
import type { SpanSettings } from './span-settings.ts'

/** `frontend.tracing` of one listener, compiled. */
export interface TracingSettings extends SpanSettings {
  /** Decides about requests without a trace; undefined: none of them is traced. */
  readonly randomSampling: Expression | undefined
  /** Decides about requests with a trace; undefined: as their sender has decided. */
  readonly clientSampling: Expression | undefined
  /** Of the spans of requests. */
  readonly add: readonly { readonly name: string; readonly expression: Expression }[]
}
