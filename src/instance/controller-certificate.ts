import { isIP } from 'node:net'
import { createCertificate } from '#apiserver/credentials/certificates.ts'
import { BackOff } from '#base/back-off.ts'
import { clock } from '#base/clock.ts'
import type { Level } from '#base/log-levels.ts'
import { certificateFault } from '#base/tls-material.ts'
import type { ApiClient } from '#cluster/api-client.ts'
import { ApiUnreadable, isConflict } from '#cluster/api-unreadable.ts'
import { ensureSecret, readSecret, replaceSecret, type StoredSecret } from '#cluster/deploy/stored-secrets.ts'
import type { Manifest } from '#deploy/manifest.ts'
import { TLS_MATERIAL } from '#net/tls-material.ts'
import type { LogFields } from '#observe/log/application-log.ts'
import type { Resource } from '#store/resources/resource.ts'
import { type CertificateEntries, nextStep, type RotationStep } from './rotation-step.ts'

/** Waits between attempts to reach the API. */
const FIRST_RETRY_MS = 500
const LONGEST_RETRY_MS = 30_000

/** Time between two looks at the Secret. */
const CHECK_MS = 10_000

/** Names of lagging proxies in a log message. */
const NAMED = 3

/** The names in the certificate of a controller. */
export interface CertificateNames {
  /** The controller's own namespace, and the Service through which proxies reach it. */
  readonly namespace: string
  readonly service: string
  /** Further host names and IP addresses of the controller. */
  readonly hosts: readonly string[]
}

/** Where the certificate comes from. */
export interface CertificateSource {
  /** A Secret in the namespace of the controller that others write and renew, such as cert-manager; undefined: the controller has its own. */
  readonly secretName?: string | undefined
  /** Life of its own certificate and authority in milliseconds. */
  readonly lifeMs: number
  /** Instead of `CHECK_MS`; for tests. */
  readonly checkMs?: number
}

export interface ControllerCertificateOptions extends CertificateNames {
  readonly client: ApiClient
  readonly certificate: CertificateSource
  /** The entries have changed since `obtain`. */
  readonly changed: (entries: CertificateEntries) => void
  /** The Secret was read. */
  readonly read: (secret: Resource, entries: CertificateEntries) => void
  /** Names of connected proxies that do not trust these authorities; undefined: another replica leads, and rotates. */
  readonly lagging: (authorities: string) => readonly string[] | undefined
  /** Called with a message for the log. */
  readonly failed: (message: string) => void
  readonly log: (level: Level, message: string, fields: LogFields) => void
  readonly reportBug: (error: unknown) => void
}

/**
 * The certificate with which a controller delivers plans. It is in a Secret with the authorities that proxies trust, so that all replicas of the
 * controller have the same. Each looks at the Secret from time to time; the leader rotates it. The version of the Secret fences its writes.
 */
export class ControllerCertificate {
  readonly #options: ControllerCertificateOptions
  readonly #secret: Manifest
  #inUse: CertificateEntries = {}
  #problem: string | undefined
  /** What the log has said last. */
  #told = ''
  #endWait: () => void = () => {}
  #isClosed = false

  constructor(options: ControllerCertificateOptions) {
    const { namespace, service, certificate } = options
    this.#options = options
    const metadata = { name: certificate.secretName ?? `${service}-authority`, namespace }
    this.#secret = { apiVersion: 'v1', kind: 'Secret', metadata, type: 'Opaque' }
  }

  /** The host name that every certificate of this controller has. */
  get host(): string {
    const { namespace, service } = this.#options
    return `${service}.${namespace}.svc`
  }

  /** Why there is none yet. */
  get problem(): string | undefined {
    return this.#problem
  }

  /** Reads or creates the Secret. Tries until the API answers. @returns undefined if `close` was called before */
  async obtain(): Promise<CertificateEntries | undefined> {
    const backOff = new BackOff(FIRST_RETRY_MS, LONGEST_RETRY_MS)
    while (!this.#isClosed) {
      try {
        this.#inUse = this.#usable((await this.#read()).values)
        this.#problem = undefined
        return this.#inUse
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

  /** After `obtain`: follows the Secret, and rotates it while this replica leads, until `close`. */
  async follow(): Promise<void> {
    const { checkMs = CHECK_MS } = this.#options.certificate
    while (!this.#isClosed) {
      await this.#wait(checkMs)
      if (!this.#isClosed) await this.#check()
    }
  }

  close(): void {
    this.#isClosed = true
    this.#endWait()
  }

  async #check(): Promise<void> {
    const { failed, reportBug } = this.#options
    try {
      const found = await this.#read()
      this.#use(found.values)
      this.#options.read(found.stored as unknown as Resource, found.values)
      const step = await this.#rotate(found)
      if (step?.kind !== 'wait') this.#told = ''
    } catch (error) {
      // Another replica was faster; the next look shows what it did.
      if (isConflict(error)) return
      if (!(error instanceof ApiUnreadable)) return reportBug(error)
      this.#tell(error.message, () => failed(`${error.message}; the certificate for proxies stays as it is`))
    }
  }

  #use(values: CertificateEntries): void {
    if (JSON.stringify(values) === JSON.stringify(this.#inUse)) return
    const isOther = values['tls.crt'] !== this.#inUse['tls.crt']
    this.#inUse = this.#usable(values)
    if (this.#isClosed) return
    this.#options.changed(values)
    if (isOther) this.#options.log('info', 'the certificate for proxies has changed', { until: this.#until })
  }

  async #rotate(found: StoredSecret): Promise<RotationStep | undefined> {
    const { client, certificate, lagging } = this.#options
    if (certificate.secretName !== undefined || this.#isClosed || lagging('') === undefined) return undefined
    const step = await nextStep(found.values, {
      nowMs: clock.now(),
      validity: TLS_MATERIAL.validity,
      lagging: (authorities) => lagging(authorities) ?? [],
      issue: () => this.#issue(),
    })
    if (step === undefined) return undefined
    if (step.kind !== 'wait') this.#use((await replaceSecret(client, this.#secret, found, step.entries)).values)
    this.#tellStep(step)
    return step
  }

  #tellStep(step: RotationStep): void {
    const { log } = this.#options
    if (step.kind === 'publish') log('info', 'proxies get the next authority of the controller', {})
    if (step.kind === 'drop') log('info', 'proxies no longer trust the previous authority of the controller', {})
    if (!('lagging' in step) || step.lagging.length === 0) return
    const proxies = step.lagging.slice(0, NAMED).join(', ')
    const fields = { proxies, count: step.lagging.length }
    if (step.kind === 'switch')
      log('warn', 'proxies cannot connect until they read the authority of the controller', fields)
    else
      this.#tell(`lagging ${proxies}`, () =>
        log('warn', 'proxies do not trust the next authority of the controller yet', fields),
      )
  }

  /** Says something that lasts once. */
  #tell(what: string, say: () => void): void {
    if (what === this.#told) return
    this.#told = what
    say()
  }

  get #until(): string {
    const untilMs = TLS_MATERIAL.validity(this.#inUse['tls.crt'] ?? '')?.untilMs ?? 0
    return new Date(untilMs).toISOString()
  }

  /** @throws ApiUnreadable */
  async #read(): Promise<StoredSecret> {
    const { client, certificate } = this.#options
    if (certificate.secretName === undefined)
      return ensureSecret(client, this.#secret, async () => {
        const { ca, certificate, key } = await this.#issue()
        return { 'ca.crt': ca, 'tls.crt': certificate, 'tls.key': key }
      })
    const found = await readSecret(client, this.#secret)
    if (found === undefined) throw new ApiUnreadable(`${this.#title} does not exist`)
    return found
  }

  /** @throws ApiUnreadable with what is wrong with it */
  #usable(entries: CertificateEntries): CertificateEntries {
    const { 'ca.crt': authorities = '', 'tls.crt': certificate = '', 'tls.key': key = '' } = entries
    const fault = certificateFault(certificate, key, TLS_MATERIAL)
    if (fault !== undefined) throw new ApiUnreadable(`${this.#title}: ${fault}`)
    const noAuthority = TLS_MATERIAL.authoritiesFault(authorities)
    if (noAuthority !== undefined) throw new ApiUnreadable(`${this.#title}: entry "ca.crt": ${noAuthority}`)
    const names = TLS_MATERIAL.validity(certificate)?.names ?? []
    if (!names.includes(this.host))
      throw new ApiUnreadable(`${this.#title}: the certificate is not valid for ${this.host}, to which proxies connect`)
    return entries
  }

  get #title(): string {
    const { name, namespace } = this.#secret.metadata
    return `Secret ${namespace}/${name}`
  }

  #issue() {
    const { hosts, certificate } = this.#options
    const names = [this.host, `${this.host}.cluster.local`, ...hosts]
    const [ips, dns] = [names.filter((name) => isIP(name) !== 0), names.filter((name) => isIP(name) === 0)]
    return createCertificate({ dns, ips }, certificate.lifeMs)
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
}
