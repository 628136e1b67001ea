import type { SecureContext } from 'node:tls'
import type { ClientHello } from './client-hello.ts'

/** Traffic of a socket: plain HTTP, plain bytes to relay, or TLS, where each connection is decided separately. */
export type Traffic = 'http' | 'bytes' | ListenTls

/** Decides about TLS connections. May decide differently for every connection: certificates change while connections go on. */
export interface ListenTls {
  /** @returns undefined when nothing is there for the server name: the handshake is refused */
  choose(hello: ClientHello): TlsChoice | undefined
}

export type TlsChoice = TlsTermination | 'passthrough'

/** TLS ends here. */
export interface TlsTermination {
  /** Certificate, versions, suites, groups, and the authorities of client certificates. */
  readonly context: SecureContext
  /** Offered protocols, in order; a client that offers others only is refused. Empty: whatever the client offers is ignored. */
  readonly alpnProtocols: readonly string[]
  /** `valid`: a client without a valid certificate is refused. `any`: a certificate is requested, but every client is accepted. */
  readonly clientCertificate: 'none' | 'valid' | 'any'
  /** What the decrypted bytes are. */
  readonly carries: 'http' | 'bytes'
}
