import type { SecureContext } from 'node:tls'
import type { ClientHello } from './client-hello.ts'

/** Traffic of a socket: plain HTTP, plain bytes to relay, or TLS, where each connection is decided separately. */
export type Traffic = 'http' | 'bytes' | ListenTls

/** Selects how TLS connections are handled. The result may differ for each connection, because certificates change at run time. */
export interface ListenTls {
  /** @returns undefined if no listener matches the server name: the handshake is refused */
  choose(hello: ClientHello): TlsChoice | undefined
}

/** `no-certificate`: the listener has no usable certificate, so the handshake is refused. */
export type TlsChoice = TlsTermination | 'passthrough' | 'no-certificate'

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
