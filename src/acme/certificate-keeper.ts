import { keyOf } from '#api/object.ts'
import { BackOff } from '#base/back-off.ts'
import { clock } from '#base/clock.ts'
import type { Finding } from '#base/finding.ts'
import { ACME_PATH, type WantedCertificate } from '#control/gateways/acme.ts'
import { TLS_MATERIAL } from '#net/tls-material.ts'
import type { LogFields } from '#observe/log/application-log.ts'
import { AcmeFailure } from './acme-failure.ts'
import { AcmeServer } from './acme-server.ts'
import { lockFile } from './file-lock.ts'
import type { Issued, IssuedCertificates } from './issued-certificates.ts'
import { orderCertificate } from './order-certificate.ts'

/** Servers count failures: a usual limit is five an hour for each host. */
const FIRST_RETRY_MS = 5 * 60_000
const LONGEST_RETRY_MS = 6 * 3600_000
/** Another process asks: how long until its certificates are looked for. */
const OTHER_ASKS_MS = 10_000
/** A machine that was suspended, or whose time was set, misses a timer of months. */
const LONGEST_WAIT_MS = 12 * 3600_000

export interface CertificateKeeperOptions {
  readonly issued: IssuedCertificates
  /** The file that only the process that asks has locked. */
  readonly lock: string
  /** Resolves when the listeners answer challenges. */
  readonly answering: () => Promise<void>
  /** Gets all problems of a Gateway, by its key. */
  readonly found: (gateway: string, findings: readonly Finding[]) => void
  readonly log: (level: 'info' | 'warn', message: string, fields: LogFields) => void
  readonly reportBug: (error: unknown) => void
}

/** A certificate that was not issued. */
interface Failure {
  readonly words: string
  readonly retryAt: number
  readonly backOff: BackOff
}

/** Gets the certificates that Gateways want, one after the other, and renews each after two thirds of its life. */
export class CertificateKeeper {
  readonly #options: CertificateKeeperOptions
  readonly #closed = new AbortController()
  /** By what is wanted: a change of it is tried at once. */
  readonly #failures = new Map<string, Failure>()
  #wanted: readonly WantedCertificate[] = []
  /** Keys of the Gateways with problems. */
  #reported: ReadonlySet<string> = new Set()
  #timer: { cancel(): void } | undefined
  #isRunning = false
  #isChanged = false

  constructor(options: CertificateKeeperOptions) {
    this.#options = options
  }

  /** @param wanted all certificates that Gateways want now */
  update(wanted: readonly WantedCertificate[]): void {
    this.#wanted = wanted
    const known = new Set(wanted.map(identityOf))
    for (const identity of this.#failures.keys()) if (!known.has(identity)) this.#failures.delete(identity)
    this.#look()
  }

  close(): void {
    this.#closed.abort()
    this.#timer?.cancel()
  }

  #look(): void {
    this.#isChanged = true
    if (!this.#isRunning && !this.#closed.signal.aborted) void this.#run()
  }

  async #run(): Promise<void> {
    this.#isRunning = true
    this.#timer?.cancel()
    let waitMs: number | undefined
    try {
      while (this.#isChanged && !this.#closed.signal.aborted) {
        this.#isChanged = false
        waitMs = this.#due().length === 0 || (await this.#askLocked()) ? undefined : OTHER_ASKS_MS
        this.#report()
      }
    } catch (error) {
      if (!this.#closed.signal.aborted) this.#options.reportBug(error)
      waitMs = FIRST_RETRY_MS
    }
    this.#isRunning = false
    if (this.#closed.signal.aborted || this.#wanted.length === 0) return
    this.#timer = clock.after(waitMs ?? this.#nextMs(), () => this.#look())
  }

  #due(): readonly WantedCertificate[] {
    const now = clock.now()
    return this.#wanted.filter((one) => this.#dueAt(one) <= now)
  }

  #dueAt(wanted: WantedCertificate): number {
    const { retryAt = 0 } = this.#failures.get(identityOf(wanted)) ?? {}
    return Math.max(retryAt, renewalOf(wanted, this.#options.issued.find(secretOf(wanted))))
  }

  #nextMs(): number {
    const next = Math.min(...this.#wanted.map((one) => this.#dueAt(one)))
    return Math.min(Math.max(0, next - clock.now()), LONGEST_WAIT_MS)
  }

  /** @returns whether this process is the one that asks */
  async #askLocked(): Promise<boolean> {
    const { issued, lock, answering } = this.#options
    await answering()
    using held = lockFile(lock)
    issued.reread()
    if (held === undefined) return false
    for (const wanted of this.#due()) {
      if (this.#closed.signal.aborted) break
      await this.#ask(wanted)
    }
    return true
  }

  async #ask(wanted: WantedCertificate): Promise<void> {
    const { issued, log } = this.#options
    const { directory, hostnames } = wanted
    const identity = identityOf(wanted)
    const fields = { secret: secretOf(wanted), hostnames: hostnames.join(', '), server: directory }
    try {
      log('info', 'asking for a certificate', fields)
      const server = await AcmeServer.open(wanted, issued.account, this.#closed.signal)
      const pair = await orderCertificate(server, hostnames)
      issued.put({ secret: secretOf(wanted), directory, hostnames, ...pair })
      this.#failures.delete(identity)
      const untilMs = TLS_MATERIAL.validity(pair.certificate)?.untilMs ?? 0
      log('info', 'certificate issued', { ...fields, until: new Date(untilMs).toISOString() })
    } catch (error) {
      if (this.#closed.signal.aborted) return
      if (!(error instanceof AcmeFailure)) throw error
      const backOff = this.#failures.get(identity)?.backOff ?? new BackOff(FIRST_RETRY_MS, LONGEST_RETRY_MS)
      const retryAt = clock.now() + Math.max(backOff.next(), error.retryAfterMs)
      this.#failures.set(identity, { words: error.message, retryAt, backOff })
    }
  }

  #report(): void {
    const findings = new Map<string, Finding[]>()
    for (const wanted of this.#wanted) {
      const failure = this.#failures.get(identityOf(wanted))
      if (failure === undefined) continue
      const isServed = this.#options.issued.find(secretOf(wanted)) !== undefined
      const message = describeFailure(wanted, failure, isServed)
      for (const gateway of wanted.gateways) {
        const of = findings.get(keyOf(gateway)) ?? []
        const severity = isServed ? 'warning' : 'error'
        of.push({ origin: gateway.origin, path: ACME_PATH, code: 'certificate-not-issued', severity, message })
        findings.set(keyOf(gateway), of)
      }
    }
    const reported = new Set(findings.keys())
    for (const gateway of this.#reported) if (!reported.has(gateway)) this.#options.found(gateway, [])
    for (const [gateway, list] of findings) this.#options.found(gateway, list)
    this.#reported = reported
  }
}

function secretOf({ secret }: WantedCertificate): string {
  return `${secret.namespace}/${secret.name}`
}

function identityOf(wanted: WantedCertificate): string {
  return JSON.stringify([secretOf(wanted), wanted.directory, wanted.contacts, wanted.hostnames])
}

/** When a certificate is to be asked for, in milliseconds since the epoch; 0: it never was, or other hosts or another server are wanted now. */
function renewalOf({ directory, hostnames }: WantedCertificate, issued: Issued | undefined): number {
  if (issued === undefined || issued.directory !== directory) return 0
  const validity = TLS_MATERIAL.validity(issued.certificate)
  if (validity === undefined || hostnames.some((name) => !validity.names.includes(name))) return 0
  return validity.fromMs + ((validity.untilMs - validity.fromMs) * 2) / 3
}

function describeFailure(wanted: WantedCertificate, { words, retryAt }: Failure, isServed: boolean): string {
  const { directory, hostnames } = wanted
  const effect = isServed ? '; the one before stays in use' : ''
  const next = `the next attempt is at ${new Date(retryAt).toISOString().slice(0, 19)}Z`
  return `${directory} did not issue the certificate of Secret ${secretOf(wanted)} for ${hostnames.join(', ')}: ${words}${effect}; ${next}`
}
