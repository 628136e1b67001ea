/** Why a body or a message ended before its end. */
export type Abort = 'timeout' | 'reset' | 'protocol-error' | 'cancelled'

/**
 * Why there was no connection for a request. The codes are public and stable: log, decision record and metrics have them
 * (docs/behaviour/wire.md, "Failures").
 */
export type ConnectFailureCode =
  | 'name-unknown'
  | 'name-lookup-failed'
  | 'connection-refused'
  | 'unreachable'
  | 'resources-exhausted'
  | 'connect-timeout'
  | 'wait-timeout'
  | 'no-streams-allowed'
  | 'too-many-waiting'
  | 'too-many-connections'
  | 'certificate-untrusted'
  | 'certificate-name'
  | 'certificate-expired'
  | 'certificate-invalid'
  | 'handshake-failed'
  | 'tls-settings-unusable'
  | 'connect-failed'

/** Why a request got no response; stable like `ConnectFailureCode`. */
export type FailureCode = ConnectFailureCode | 'not-http2' | 'request-headers-too-large' | Abort

/** By a bound of the gateway itself: nothing was sent, and they say nothing about the server (decision B96). */
const OWN_BOUNDS: ReadonlySet<FailureCode> = new Set([
  'wait-timeout',
  'too-many-waiting',
  'too-many-connections',
  'resources-exhausted',
  'request-headers-too-large',
])

export function isOwnBound(code: FailureCode): boolean {
  return OWN_BOUNDS.has(code)
}

/** A connection that did not come to stand. */
export interface ConnectFailure {
  readonly code: ConnectFailureCode
  /** For operators: what the system said. */
  readonly detail: string | undefined
}

/** A request that got no response. */
export interface Failure {
  readonly code: FailureCode
  readonly detail: string | undefined
  /** Something of the request may have reached the server, which may have acted on it. */
  readonly maybeProcessed: boolean
}

/** Why a request is sent again by the connections themselves (RFC 9110, 9.2.2; RFC 9113, 8.7). */
export type ReplayCause =
  /** The server closed a connection that was kept, perhaps because it had been idle, under an idempotent request. */
  | 'stale-connection'
  /** The server said that it had not processed the request. */
  | 'not-processed'
