import type { Call } from './call.ts'

/**
 * Services for running steps. The caller provides them, so that no step uses a global: the proxy provides real ones; `explain` provides a
 * clock that stands still and makes no calls.
 */
export interface RunContext {
  /** Milliseconds since the epoch. */
  now(): number
  /** 0 (inclusive) to 1 (exclusive). */
  random(): number
  /** Aborted when the request is abandoned; created on first use. */
  readonly signal: AbortSignal
  /** Calls a backend on behalf of the request; created on first use. */
  readonly call: Call
}
