import type { FailureCode } from '#net/failure.ts'

/** What a call is for: a label of its metrics, and what decides how many of its kind one destination takes at a time. */
export type CallPurpose = 'mcp' | 'key-set'

/** A request that the gateway makes by itself: to MCP targets, authorizers, rate-limit services, key-set servers. */
export interface CallRequest {
  readonly purpose: CallPurpose
  readonly method: string
  /** Path and query. */
  readonly path: string
  readonly headers: readonly (readonly [name: string, value: string])[]
  readonly body: Uint8Array | undefined
  /** From sending to the response head; 0: none. A request timeout of the destination's own policies takes its place. */
  readonly timeoutMs: number
  /** From the call to the last byte of the answer, with all that it waits for; unset: none. */
  readonly deadlineMs?: number
  readonly signal: AbortSignal
}

export interface CallResponse {
  readonly status: number
  /** Lower-case names, in order. */
  readonly headers: readonly (readonly [name: string, value: string])[]
  header(lowerName: string): string | undefined
  /** Must be read to its end or cancelled (`return()`), or the connection stays busy. */
  readonly body: AsyncIterable<Uint8Array>
}

/** `no-endpoint`: the destination has no address, or may not be used as it is configured. */
export type CallFailure = FailureCode | 'no-endpoint' | 'backend-auth-failed'

/** Why no response came. */
export class CallError extends Error {
  readonly failure: CallFailure
  /** For operators: what the system said. */
  readonly detail: string | undefined

  constructor(failure: CallError['failure'], detail?: string) {
    super(`call failed: ${failure}`)
    this.failure = failure
    this.detail = detail
  }
}

/**
 * Sends a request to a destination of the plan, with the backend policies that belong to it.
 * `destination`: key of a backend (`Service/default/x/80`, `ProxyBackend/default/x`), or of a section of it where the caller has one
 * (`ProxyBackend/default/x/target`). Rejects with `CallError`.
 */
export type Call = (destination: string, request: CallRequest) => Promise<CallResponse>

/** A call that has ended, as it is observed. */
export interface EndedCall {
  readonly purpose: CallPurpose
  /** Key of the backend. */
  readonly backend: string
  /** Status of the answer; undefined: none came. */
  readonly status: number | undefined
  /** Why none came, or why it is not whole. */
  readonly failure: CallFailure | undefined
  readonly durationMs: number
}
