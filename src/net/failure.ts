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
  | 'mesh-certificate-missing'

/** Why a request got no response; stable like `ConnectFailureCode`. */
export type FailureCode = ConnectFailureCode | 'not-http2' | 'request-headers-too-large' | 'request-incomplete' | Abort

/**
 * Who is to blame when a request got no response, which is the only question for the health of an endpoint (decisions A-99 and B96): the endpoint;
 * the gateway, by a limit of its own; or the request, which was not sent whole.
 */
const BLAME: Readonly<Record<FailureCode, 'endpoint' | 'gateway' | 'request'>> = {
  'name-unknown': 'endpoint',
  'name-lookup-failed': 'endpoint',
  'connection-refused': 'endpoint',
  unreachable: 'endpoint',
  'resources-exhausted': 'gateway',
  'connect-timeout': 'endpoint',
  'wait-timeout': 'gateway',
  'no-streams-allowed': 'endpoint',
  'too-many-waiting': 'gateway',
  'too-many-connections': 'gateway',
  'certificate-untrusted': 'endpoint',
  'certificate-name': 'endpoint',
  'certificate-expired': 'endpoint',
  'certificate-invalid': 'endpoint',
  'handshake-failed': 'endpoint',
  'tls-settings-unusable': 'endpoint',
  'connect-failed': 'endpoint',
  'address-not-allowed': 'gateway',
  'tunnel-refused': 'endpoint',
  'tunnel-failed': 'endpoint',
  'mesh-certificate-missing': 'gateway',
  'not-http2': 'endpoint',
  'request-headers-too-large': 'gateway',
  'request-incomplete': 'request',
  timeout: 'endpoint',
  reset: 'endpoint',
  'protocol-error': 'endpoint',
  cancelled: 'request',
}

/** Failures that a server may cause because it does not speak the protocol of the request. */
const OF_PROTOCOL: Readonly<Record<'http1' | 'http2', ReadonlySet<FailureCode>>> = {
  http1: new Set(['handshake-failed', 'protocol-error', 'reset', 'timeout']),
  http2: new Set(['handshake-failed', 'not-http2']),
}

/** The part of a request that its client chose, and that may be why it failed. */
export interface ClientPart {
  /** The version of HTTP that the request needs, where the endpoint usually gets another one; undefined: the usual one. */
  readonly version: 'http1' | 'http2' | undefined
  /** The gateway waits for the rest of its body, or the client set the time limit that has passed. */
  readonly slow: boolean
}

/** Whether a failure counts against its endpoint. @param part undefined: the gateway made the request itself */
export function countsForHealth({ code, unspoken }: Pick<Failure, 'code' | 'unspoken'>, part?: ClientPart): boolean {
  if (BLAME[code] !== 'endpoint') return false
  if (part === undefined) return true
  if (part.slow && code === 'timeout') return false
  return part.version === undefined || !(unspoken === true || OF_PROTOCOL[part.version].has(code))
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
  /** The server has sent nothing in HTTP/2, which the request needs. */
  readonly unspoken?: true
}

/** Why a pool sends a request again (RFC 9110, 9.2.2; RFC 9113, 8.7). */
export type ReplayCause =
  /** The server closed a reused connection, perhaps because it was idle; the request is idempotent. */
  | 'stale-connection'
  /** The server declared the request unprocessed. */
  | 'not-processed'
