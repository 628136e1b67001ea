import { clock } from '#base/clock.ts'
import { type Call, CallError } from './call.ts'
import { type GuardLoad, uncountedGuardLoad } from './guard-load.ts'
import { type LlmPrices, NO_PRICES } from './llm-prices.ts'
import type { Outcome } from './outcome.ts'

/**
 * Services for steps and expressions. The creator of an exchange provides them, so that neither uses a global: the proxy provides real ones;
 * `explain` provides a fixed clock, constant random values, and no calls.
 */
export interface RunContext {
  /** Milliseconds since the epoch. */
  now(): number
  /** Milliseconds of the clock of `Exchange.startMonotonicMs`. */
  monotonic(): number
  /** 0 (inclusive) to 1 (exclusive). */
  random(): number
  /** A version 4 UUID. */
  uuid(): string
  /** Aborted when the request is abandoned; created on first use. */
  readonly signal: AbortSignal
  /** The prices of models. */
  readonly prices: LlmPrices
  /** What prompt guards of this worker hold back. */
  readonly guardLoad: GuardLoad
  /** Calls a backend of the plan for the client of the request, as it is identified now. */
  readonly call: Call
  /** The same for calls that may outlive the request: neither its end nor its memory limits them. */
  readonly callLater: Call
  /** Calls a backend of the plan as the gateway itself, for responses that requests share. */
  readonly callShared: Call
  /** Calls sections of the request's backend, with the policies of its route, as the gateway itself: for responses that requests share. */
  readonly callSections: Call
  /**
   * Ends the request with this outcome instead of what the backend sends, while no step of the caller waits. If the response has begun, it is
   * reset. An `Error` is a bug.
   */
  interrupt(why: NonNullable<Outcome> | Error): void
  /** Calls `over` when no policy can act any more: the response is complete, the client has disconnected, or the connection was upgraded. */
  whenOver(over: () => void): void
}

/** The time and randomness of the system. */
export const SYSTEM = {
  now: () => clock.now(),
  monotonic: () => clock.monotonic(),
  random: () => Math.random(),
  uuid: () => globalThis.crypto.randomUUID(),
} as const

/** For an exchange that no connection waits for. */
export const NO_CLIENT = {
  interrupt: () => {},
  whenOver: () => {},
  prices: NO_PRICES,
  guardLoad: uncountedGuardLoad(),
} as const

const refuseCall: Call = () => Promise.reject(new CallError('no-endpoint'))

/** For an exchange that only expressions use, not steps: there is nothing to cancel, and no calls are made. */
export const NO_STEPS: RunContext = {
  ...SYSTEM,
  ...NO_CLIENT,
  signal: new AbortController().signal,
  call: refuseCall,
  callLater: refuseCall,
  callShared: refuseCall,
  callSections: refuseCall,
}
