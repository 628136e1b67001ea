import type { OtlpTarget } from './otlp-target.ts'

/** What all spans of a traced request have in common. */
export interface SpanSettings {
  readonly target: OtlpTarget
  /** Names of attributes that spans omit: those of fields of the access log, or those of spans. */
  readonly remove: ReadonlySet<string>
}
