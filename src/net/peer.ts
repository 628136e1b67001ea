/** The peer of an accepted connection. */
export interface Peer {
  /** Address of the client: from the PROXY header if there is one, otherwise from the socket. */
  readonly remoteAddress: string
  readonly remotePort: number
  /** Address and port of the socket's peer. */
  readonly rawAddress: string
  readonly rawPort: number
  readonly localAddress: string
  readonly localPort: number
  /** True under TLS. */
  readonly secure: boolean
  /** Server name of the TLS handshake, lower case; also if TLS is passed through. */
  readonly serverName: string | undefined
  /** The client certificate, if it is valid. */
  readonly certificate: PeerCertificate | undefined
}

/** A verified client certificate. */
export interface PeerCertificate {
  readonly pem: string
  /** Distinguished names (RFC 4514). */
  readonly subject: string
  readonly issuer: string
  /** Common name of the subject. */
  readonly subjectCn: string | undefined
  /** URIs, DNS names, mail addresses and IP addresses, in the order of the certificate. */
  readonly subjectAltNames: readonly string[]
  /** Only the URIs: a DNS name may look like one. */
  readonly uris: readonly string[]
}

/** Of an exchange without a connection. */
export const NO_PEER: Peer = {
  remoteAddress: '',
  remotePort: 0,
  rawAddress: '',
  rawPort: 0,
  localAddress: '',
  localPort: 0,
  secure: false,
  serverName: undefined,
  certificate: undefined,
}
