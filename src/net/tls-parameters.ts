/** What TLS is spoken, in the words of OpenSSL. */
export interface TlsParameters {
  readonly minVersion: 'TLSv1.2' | 'TLSv1.3'
  readonly maxVersion: 'TLSv1.2' | 'TLSv1.3'
  /** Suites of both versions, the preferred ones first. */
  readonly ciphers: string
  /** Key exchange groups, the preferred ones first; undefined: those of OpenSSL, with the post-quantum one first. */
  readonly groups: string | undefined
}
