import { createSecureContext, type SecureContext } from 'node:tls'

/** Certificate and key as a Secret holds them, PEM as byte text. */
export interface CertificateSecret {
  readonly data: Readonly<Record<string, string>>
}

/** TLS contexts of Secrets; made once for each, and gone with it. */
export class SecureContexts {
  readonly #contexts = new WeakMap<CertificateSecret, SecureContext>()

  /** @returns undefined when the Secret holds no usable pair: handshakes then fail */
  of(secret: CertificateSecret): SecureContext | undefined {
    const known = this.#contexts.get(secret)
    if (known !== undefined) return known
    const cert = secret.data['tls.crt']
    const key = secret.data['tls.key']
    if (cert === undefined || key === undefined) return undefined
    try {
      const context = createSecureContext({ cert, key })
      this.#contexts.set(secret, context)
      return context
    } catch {
      // A certificate and key that do not belong together; the listener's status says so.
      return undefined
    }
  }
}
