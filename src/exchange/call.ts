import type { FailureCode } from '#net/failure.ts'

/** A request that the gateway makes by itself: to MCP targets, authorizers, rate-limit services, key-set servers. */
export interface CallRequest {
  readonly method: string
  /** Path and query. */
  readonly path: string
  readonly headers: readonly (readonly [name: string, value: string])[]
  readonly body: Uint8Array | undefined
  /** Until the response head; 0: none. */
  readonly timeoutMs: number
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

/** Why no response came. */
export class CallError extends Error {
  readonly failure: FailureCode | 'no-endpoint' | 'backend-auth-failed'
  /** For operators: what the system said. */
  readonly detail: string | undefined

  constructor(failure: CallError['failure'], detail?: string) {
    super(`call failed: ${failure}`)
    this.failure = failure
    this.detail = detail
  }
}

/**
 * Sends a request to a destination of the plan with the backend policies that belong to it.
 * `destination`: key of a backend (`ProxyBackend/default/x`), or of a section of it (`ProxyBackend/default/x/target`).
 * Rejects with `CallError`.
 */
export type Call = (destination: string, request: CallRequest) => Promise<CallResponse>
