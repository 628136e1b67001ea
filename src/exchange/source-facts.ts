/** What is known of the caller beyond its address; set by whoever owns the connection, the `source` variables read it. */
export interface SourceFacts {
  readonly certificate: ClientCertificate | undefined
}

/** A client certificate that was verified. */
export interface ClientCertificate {
  readonly pem: string
  /** Distinguished names, as RFC 4514 writes them. */
  readonly subject: string
  readonly issuer: string
  /** Common name of the subject. */
  readonly subjectCn: string | undefined
  /** URIs, DNS names and addresses, in the order of the certificate. */
  readonly subjectAltNames: readonly string[]
}
