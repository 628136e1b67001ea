import type { SecureContext } from 'node:tls'
import type { ClientHello } from './client-hello.ts'

/** Traffic of a socket: plain HTTP, plain bytes to relay, or TLS, where each connection is decided separately. */
export type Traffic = 'http' | 'bytes' | ListenTls

/** Selects how TLS connections are handled. The result may differ for each connection, because certificates change at run time. */
export interface ListenTls {
  choose(hello: ClientHello): TlsChoice
}

/**
 * Alerts refuse the handshake where a listener would have terminated it.
 *
 * - `no-certificate`: the listener has no usable certificate; an alert.
 * - `unknown-name`: no listener matches the server name; an alert.
 * - `unknown-name-relayed`: the same where no listener terminates TLS. The gateway is no party of the handshake, so it closes the
 *   connection without an alert, as it does for a name without a route.
 */
export type TlsChoice = TlsTermination | 'passthrough' | 'no-certificate' | 'unknown-name' | 'unknown-name-relayed'

/** TLS is terminated. */
export interface TlsTermination {
  /** Certificate, versions, cipher suites, groups, and the authorities for client certificates. */
  readonly context: SecureContext
  /** Supported protocols, in order of preference; a client that offers only others is refused. Empty: the client's offer is ignored. */
  readonly alpnProtocols: readonly string[]
  /** `valid`: a client without a valid certificate is refused. `any`: a certificate is requested, but every client is accepted. */
  readonly clientCertificate: 'none' | 'valid' | 'any'
  /** The kind of the decrypted traffic. */
  readonly carries: 'http' | 'bytes'
}
