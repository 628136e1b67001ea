/** TLS parameters in OpenSSL notation. */
export interface TlsParameters {
  readonly minVersion: 'TLSv1.2' | 'TLSv1.3'
  readonly maxVersion: 'TLSv1.2' | 'TLSv1.3'
  /** Cipher suites of both versions, in order of preference. */
  readonly ciphers: string
  /** Key exchange groups, in order of preference; undefined: those of OpenSSL, with the post-quantum group first. */
  readonly groups: string | undefined
}
