/** Why a body or a message ended before its end. */
export type Abort = 'timeout' | 'reset' | 'protocol-error' | 'cancelled'

/**
 * Why a request got no connection. The codes are public and stable: log, decision records and metrics use them
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
  | 'address-not-allowed'
  | 'tunnel-refused'
  | 'tunnel-failed'

/** Why a request got no response; stable like `ConnectFailureCode`. */
export type FailureCode = ConnectFailureCode | 'not-http2' | 'request-headers-too-large' | Abort

/** Failures by limits of the gateway itself: nothing was sent, and they are not evidence about the server (decision B96). */
const OWN_BOUNDS: ReadonlySet<FailureCode> = new Set([
  'wait-timeout',
  'too-many-waiting',
  'too-many-connections',
  'resources-exhausted',
  'request-headers-too-large',
  'address-not-allowed',
])

export function isOwnBound(code: FailureCode): boolean {
  return OWN_BOUNDS.has(code)
}

/** A connection could not be established. */
export interface ConnectFailure {
  readonly code: ConnectFailureCode
  /** For operators: the message of the system. */
  readonly detail: string | undefined
}

/** A request that got no response. */
export interface Failure {
  readonly code: FailureCode
  readonly detail: string | undefined
  /** Part of the request may have reached the server, which may have processed it. */
  readonly maybeProcessed: boolean
}

/** Why a pool sends a request again (RFC 9110, 9.2.2; RFC 9113, 8.7). */
export type ReplayCause =
  /** The server closed a reused connection, perhaps because it was idle; the request is idempotent. */
  | 'stale-connection'
  /** The server declared the request unprocessed. */
  | 'not-processed'
