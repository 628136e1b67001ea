/** The peer of an accepted connection. */
export interface Peer {
  /** Address of the client: from the PROXY header if there is one, otherwise from the socket. */
  readonly remoteAddress: string
  readonly remotePort: number
  /** The other end of the socket. */
  readonly rawAddress: string
  readonly rawPort: number
  readonly localAddress: string
  readonly localPort: number
  /** True under TLS. */
  readonly secure: boolean
  /** What the client named in the TLS handshake, lower case; also where TLS is passed through. */
  readonly serverName: string | undefined
  /** Of the client, verified. */
  readonly certificate: PeerCertificate | undefined
}

/** A client certificate that was verified. */
export interface PeerCertificate {
  readonly pem: string
  /** Distinguished names, as RFC 4514 writes them. */
  readonly subject: string
  readonly issuer: string
  /** Common name of the subject. */
  readonly subjectCn: string | undefined
  /** URIs, DNS names, mail addresses and IP addresses, in the order of the certificate. */
  readonly subjectAltNames: readonly string[]
  /** The URIs among them: a DNS name may read like one. */
  readonly uris: readonly string[]
}
