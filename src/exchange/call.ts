import type { FailureCode } from '#net/failure.ts'
import type { Head } from '#net/http/head.ts'
import type { BodySource, SendableBody } from '#net/stream.ts'
import type { MessageDeadline } from './message-deadline.ts'
import type { ClientSpan, SentMcp } from './request-span.ts'

/**
 * MCP targets, servers of key sets, authorization, processing and rate limits, receivers of copies, LLM providers that list their models,
 * prompt guards, identity providers where clients sign in, and receivers of telemetry. The purpose is a label of the metrics, and determines how many calls to a destination run at a time.
 */
export type CallPurpose =
  | 'mcp'
  | 'key-set'
  | 'authorization'
  | 'processing'
  | 'rate-limit'
  | 'mirror'
  | 'models'
  | 'guard'
  | 'sign-in'
  | 'telemetry'

/** A request of the gateway itself. */
export interface CallRequest {
  readonly purpose: CallPurpose
  /** gRPC always uses HTTP/2, whatever the version of the backend's other requests. Default: `http`. */
  readonly protocol?: 'http' | 'grpc'
  readonly method: string
  /** Path and query. */
  readonly path: string
  readonly headers: readonly (readonly [name: string, value: string])[]
  /** The host of a forwarded request, which changes only if the destination rewrites it. Default: the host of the destination. */
  readonly host?: string
  /** A source is a body that continues while the response is read. */
  readonly body: Uint8Array | BodySource | undefined
  /** Time limit from sending to the response head; 0: none. A request timeout in the destination's own policies replaces it. */
  readonly timeoutMs: number
  /** Time limit from the call to the last byte of the response, including all waits; unset: none. */
  readonly deadlineMs?: number
  /** The same, but a request timeout in the destination's own policies replaces it. */
  readonly defaultDeadlineMs?: number | undefined
  /** Neither of the two is later than this. */
  readonly maxDeadlineMs?: number
  /** Time limit that the caller starts and stops while the call goes on, instead of all others. */
  readonly messageDeadline?: MessageDeadline
  readonly signal: AbortSignal
  /** The request may be processed twice: it is sent again if the server closes an idle connection at that moment. */
  readonly isRepeatable?: boolean
  /** The endpoint to use if it exists and is not evicted, by its label. */
  readonly prefer?: string | undefined
  /** Endpoints to use only if there is no other one, by label. */
  readonly avoid?: readonly string[]
  /** Changes the request after the backend policies of the destination, for example because they set a credential that must move. */
  readonly finish?: (request: Head) => void
  /** The MCP message in the body; set only if the call is traced. */
  readonly mcp?: SentMcp | undefined
  /** The response says nothing about other requests to the destination: its health stays as it is. */
  readonly leavesHealth?: true
}

/** Bytes that can be read, or go to a sink as they arrive. */
export interface PipedBody extends AsyncIterable<Uint8Array>, SendableBody {
  /** Gives the rest up. */
  cancel(): void
}

export interface CallResponse {
  readonly status: number
  /** Label of the endpoint that sent it: `host:port`, or the path of a socket. */
  readonly endpoint: string
  /** Lower-case names, in order. */
  readonly headers: readonly (readonly [name: string, value: string])[]
  header(lowerName: string): string | undefined
  /** Must be read to its end or closed with `return()`; otherwise the connection stays in use. */
  readonly body: AsyncIterable<Uint8Array> | PipedBody
  /** Takes the whole body at once if all of it has arrived; undefined: it must be read. Unset: it is never known. */
  takeArrived?(): Uint8Array | undefined
  /** A field of the trailers; valid after the end of the body. */
  trailer(lowerName: string): string | undefined
}

/**
 * `no-endpoint`: the destination has no address, or its configuration forbids its use. `not-made`: this context makes no calls (`explain`).
 */
export type CallFailure = FailureCode | 'no-endpoint' | 'backend-auth-failed' | 'not-made'

/** Why no response came. */
export class CallError extends Error {
  readonly failure: CallFailure
  /** The error of the system, for operators. */
  readonly detail: string | undefined
  /** Label of the endpoint that did not get the request; undefined: there was none, or part of the request may have reached it. */
  readonly unreached: string | undefined

  constructor(failure: CallError['failure'], detail?: string, unreached?: string) {
    super(`call failed: ${failure}`)
    this.failure = failure
    this.detail = detail
    this.unreached = unreached
  }
}

/**
 * Sends a request to a destination of the plan, with the backend policies of the destination.
 * `destination`: key of a backend (`Service/default/x/80`, `ProxyBackend/default/x`), or of one of its sections
 * (`ProxyBackend/default/x/target`). Rejects with `CallError`.
 */
export type Call = (destination: string, request: CallRequest) => Promise<CallResponse>

/** A completed call, for observation. */
export interface EndedCall {
  readonly purpose: CallPurpose
  /** `<namespace>/<name>` of the backend. */
  readonly backend: string
  /** Status of the response; undefined: no response. */
  readonly status: number | undefined
  /** Name of the gRPC status of the response, if any. */
  readonly grpcStatus: string | undefined
  /** Why the response is missing or incomplete. */
  readonly failure: CallFailure | undefined
  readonly durationMs: number
  /** Set if the request that caused it is traced. */
  readonly span: ClientSpan | undefined
  /** Set if the request that caused it has custom labels of metrics. */
  readonly of: CallKeeper | undefined
}

/** Keeps calls until the request that caused them has ended. */
export interface CallKeeper {
  /** @returns false: it does not keep this one */
  keep(call: EndedCall): boolean
}
