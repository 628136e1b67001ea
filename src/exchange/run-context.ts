import type { Call } from './call.ts'

/**
 * What a step may ask of the machine and of the network while it runs. Whoever runs the steps hands it in, so that no step reaches for
 * a global: the proxy gives what is real, `explain` a clock that stands still and calls that are not made.
 */
export interface RunContext {
  /** Milliseconds since the epoch. */
  now(): number
  /** 0 (inclusive) to 1 (exclusive). */
  random(): number
  /** Aborted when nobody waits for the request any more; made when it is first asked for. */
  readonly signal: AbortSignal
  /** Calls a backend in the name of the request; made when it is first asked for. */
  readonly call: Call
}
