import { isIP } from 'node:net'
import { createCertificate } from '#apiserver/credentials/certificates.ts'
import { BackOff } from '#base/back-off.ts'
import { clock } from '#base/clock.ts'
import type { ApiClient } from '#cluster/api-client.ts'
import { ApiUnreadable } from '#cluster/api-unreadable.ts'
import { ensureSecret } from '#cluster/deploy/stored-secrets.ts'

/** Waits between attempts to reach the API. */
const FIRST_RETRY_MS = 500
const LONGEST_RETRY_MS = 30_000

/** The names in the certificate of a controller. */
export interface CertificateNames {
  /** The controller's own namespace, and the Service through which proxies reach it. */
  readonly namespace: string
  readonly service: string
  /** Further host names and IP addresses of the controller. */
  readonly hosts: readonly string[]
}

export interface ControllerCertificateOptions extends CertificateNames {
  readonly client: ApiClient
  /** Called with a message for the log. */
  readonly failed: (message: string) => void
}

/** The entries of the Secret: certificates and key in PEM. */
type Entries = Readonly<Record<string, string>>

/** The certificate with which a controller delivers plans. It is in a Secret with its authority, so that all pods of the controller have the same. */
export class ControllerCertificate {
  readonly #options: ControllerCertificateOptions
  #problem: string | undefined
  #endWait: () => void = () => {}
  #isClosed = false

  constructor(options: ControllerCertificateOptions) {
    this.#options = options
  }

  /** The host name that every certificate of this controller has. */
  get host(): string {
    const { namespace, service } = this.#options
    return `${service}.${namespace}.svc`
  }

  /** Why the last attempt to obtain it failed. */
  get problem(): string | undefined {
    return this.#problem
  }

  /** Reads or creates the Secret. Tries until the API answers. @returns undefined if `close` was called before */
  async obtain(): Promise<Entries | undefined> {
    const backOff = new BackOff(FIRST_RETRY_MS, LONGEST_RETRY_MS)
    while (!this.#isClosed) {
      try {
        const entries = await this.#ensure()
        this.#problem = undefined
        return entries
      } catch (error) {
        if (!(error instanceof ApiUnreadable)) throw error
        if (this.#isClosed) return undefined
        this.#problem = error.message
        const waitMs = backOff.next(error.retryAfterMs)
        this.#options.failed(`${error.message}; next attempt in ${(waitMs / 1000).toFixed(1)} s`)
        await this.#wait(waitMs)
      }
    }
    return undefined
  }

  close(): void {
    this.#isClosed = true
    this.#endWait()
  }

  #wait(ms: number): Promise<void> {
    return new Promise((resolve) => {
      const timer = clock.after(ms, resolve)
      this.#endWait = () => {
        timer.cancel()
        resolve()
      }
    })
  }

  /** @throws ApiUnreadable */
  #ensure(): Promise<Entries> {
    const { client, namespace, service, hosts } = this.#options
    const { host } = this
    const metadata = { name: `${service}-authority`, namespace }
    const secret = { apiVersion: 'v1', kind: 'Secret', metadata, type: 'Opaque' }
    const names = [host, `${host}.cluster.local`, ...hosts]
    return ensureSecret(client, secret, async () => {
      const [ips, dns] = [names.filter((name) => isIP(name) !== 0), names.filter((name) => isIP(name) === 0)]
      const { ca, certificate, key } = await createCertificate({ dns, ips })
      return { 'ca.crt': ca, 'tls.crt': certificate, 'tls.key': key }
    })
  }
}
