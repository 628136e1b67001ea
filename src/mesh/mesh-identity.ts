import { BackOff } from '#base/back-off.ts'
import { clock } from '#base/clock.ts'
import type { Level } from '#base/log-levels.ts'
import { type MeshWorkload, meshId } from '#net/hbone/mesh-id.ts'
import type { MeshMaterial } from '#net/hbone/mesh-material.ts'
import type { LogFields } from '#observe/log/application-log.ts'
import { askCa } from './ask-ca.ts'
import { checkCertificates } from './check-certificates.ts'
import { createIdentityRequest } from './identity-request.ts'
import { type FailureReason, MeshFailure } from './mesh-failure.ts'
import { readRoots, readToken } from './read-mesh-files.ts'

const NONE = 'there is no certificate of the mesh'
const NOT_RENEWED = 'the certificate of the mesh cannot be renewed'

/** Wanted life of a certificate: that of Istio. */
const LIFE_SECONDS = 24 * 60 * 60

const FIRST_RETRY_MS = 1000
const LONGEST_RETRY_MS = 60_000

/** A certificate is renewed at half of the time that was left when it arrived, and up to a tenth of that earlier or later. */
const RENEWAL = 1 / 2
const JITTER = 1 / 10
const SHORTEST_RENEWAL_MS = 1000

/** Whatever is wrong, looks do not follow each other at once. */
const SHORTEST_WAIT_MS = 100

/** Time between two looks at the root certificates, which the kubelet replaces, and at the clock, which may be set. */
const LOOK_MS = 10_000

export interface MeshIdentityOptions {
  /** Of the CA, with scheme https, or http to this machine. */
  readonly caUrl: URL
  readonly trustDomain: string
  readonly workload: MeshWorkload
  /** Paths of files that others replace: root certificates in PEM, and the token. */
  readonly rootsFile: string
  readonly tokenFile: string
  /** Gets what tunnels use from now on; undefined: the certificate has expired. */
  readonly publish: (material: MeshMaterial | undefined) => void
  /** Gets the secrets of now, before they are used. */
  readonly secrets: (values: readonly string[]) => void
  /** An attempt failed. */
  readonly failed: (reason: FailureReason) => void
  readonly whyNotReadyChanged: () => void
  readonly log: (level: Level, message: string, fields: LogFields) => void
  readonly reportBug: (error: unknown) => void
  /** From 0 to 1. */
  readonly random?: () => number
}

/** A certificate that can be used. */
interface Held {
  readonly material: MeshMaterial
  /** Milliseconds since the epoch. */
  readonly issuedMs: number
  readonly untilMs: number
}

/** Why there is no new certificate, and since when. */
interface Failed {
  readonly reason: FailureReason
  readonly words: string
  readonly sinceMs: number
}

/** The state of the identity, with times in milliseconds since the epoch. */
export interface MeshState {
  /** SPIFFE id. */
  readonly id: string
  readonly ca: string
  readonly held: Held | undefined
  /** When a certificate is asked for next. */
  readonly nextMs: number
  readonly failed: Failed | undefined
  /** The last certificate ended then, without another one. */
  readonly endedMs: number | undefined
}

/**
 * Keeps the certificate of a proxy in a mesh: gets one from the CA of the mesh, and renews it. Its key is in memory only, and new with each
 * certificate. The old one is used until its end, and never longer.
 */
export class MeshIdentity {
  readonly #options: MeshIdentityOptions
  readonly #id: string
  readonly #backOff: BackOff
  readonly #random: () => number
  readonly #closing = new AbortController()
  /** The last ones that could be used. */
  #roots: string | undefined
  /** Why those in the file cannot be used now. */
  #rootsFailure: MeshFailure | undefined
  #token: string | undefined
  #held: Held | undefined
  #failed: Failed | undefined
  #endedMs: number | undefined
  #nextMs = 0
  #endWait: () => void = () => {}

  constructor(options: MeshIdentityOptions) {
    const { trustDomain, workload, random = Math.random } = options
    this.#options = options
    this.#id = meshId(trustDomain, workload)
    this.#random = random
    this.#backOff = new BackOff(FIRST_RETRY_MS, LONGEST_RETRY_MS, random)
  }

  /** Asks for a certificate, and from then on keeps one. */
  start(): void {
    void this.#run()
  }

  close(): void {
    this.#closing.abort()
    this.#endWait()
  }

  get state(): MeshState {
    const [held, failed, endedMs] = [this.#held, this.#failed, this.#endedMs]
    return { id: this.#id, ca: this.#ca, held, failed, endedMs, nextMs: this.#nextMs }
  }

  /** Why the proxy has never had a certificate; undefined: it has, or had one. */
  get whyNotReady(): string | undefined {
    if (this.#held !== undefined || this.#endedMs !== undefined) return undefined
    if (this.#failed !== undefined)
      return `there is no certificate of the mesh for ${this.#id}: ${this.#failed.words}; retrying`
    return `the certificate of the mesh for ${this.#id} has not arrived yet from ${this.#ca}`
  }

  /** Why a proxy that is ready cannot take part in the mesh; undefined: it can. */
  get whyOutside(): string | undefined {
    if (this.#held !== undefined || this.#endedMs === undefined) return undefined
    const cause = this.#failed === undefined ? '' : `: ${this.#failed.words}`
    return `the certificate of the mesh expired at ${new Date(this.#endedMs).toISOString()}${cause}`
  }

  get #ca(): string {
    return this.#options.caUrl.origin
  }

  get #secrets(): readonly string[] {
    return [this.#token, this.#held?.material.key].filter((value) => value !== undefined)
  }

  get #isClosed(): boolean {
    return this.#closing.signal.aborted
  }

  async #run(): Promise<void> {
    while (!this.#isClosed) {
      await this.#look().catch(this.#options.reportBug)
      await this.#wait()
    }
  }

  async #look(): Promise<void> {
    await this.#readRoots()
    if (this.#isClosed) return
    this.#dropEnded()
    if (clock.now() >= this.#nextMs) await this.#attempt()
  }

  async #readRoots(): Promise<void> {
    const { rootsFile, workload } = this.#options
    try {
      const roots = await readRoots(rootsFile, workload.namespace)
      this.#rootsFailure = undefined
      if (roots !== this.#roots && !this.#isClosed) this.#useRoots(roots)
      else if (this.#failed?.reason === 'roots') this.#askNow()
    } catch (error) {
      if (!(error instanceof MeshFailure)) throw error
      this.#rootsFailure = error
      // With a certificate, the ones before stay in use.
      if (this.#held !== undefined) this.#tell(error)
    }
  }

  #useRoots(roots: string): void {
    const isFirst = this.#roots === undefined
    this.#roots = roots
    if (!isFirst)
      this.#options.log('info', 'the root certificates of the mesh have changed', { file: this.#options.rootsFile })
    const held = this.#held
    if (held === undefined) return this.#askNow()
    this.#hold({ ...held, material: { ...held.material, roots } })
    if (this.#failed !== undefined || !this.#isTrusted(held.material, roots)) this.#askNow()
  }

  /** Whether peers with these root certificates accept the certificate. */
  #isTrusted({ certificate, key, id }: MeshMaterial, roots: string): boolean {
    try {
      checkCertificates([certificate], { id, key, roots, rootsFile: this.#options.rootsFile }, clock.now())
      return true
    } catch (error) {
      if (!(error instanceof MeshFailure)) throw error
      return false
    }
  }

  #askNow(): void {
    this.#nextMs = 0
    this.#backOff.reset()
  }

  async #attempt(): Promise<void> {
    try {
      const issued = await this.#ask()
      if (!this.#isClosed) this.#succeed(issued)
    } catch (error) {
      if (this.#isClosed) return
      if (!(error instanceof MeshFailure)) this.#options.reportBug(error)
      this.#fail(error instanceof MeshFailure ? error : new MeshFailure('answer', 'a bug of the proxy; its log has it'))
    }
  }

  /** @throws MeshFailure */
  async #ask(): Promise<Omit<Held, 'issuedMs'>> {
    const { caUrl, rootsFile, tokenFile, secrets } = this.#options
    if (this.#rootsFailure !== undefined) throw this.#rootsFailure
    const roots = this.#roots!
    const token = await readToken(tokenFile)
    // The new key is in no text before the certificate is used.
    this.#token = token
    secrets(this.#secrets)
    const { csr, key } = await createIdentityRequest(this.#id)
    const question = { url: caUrl, roots, rootsFile, token, csr, lifeSeconds: LIFE_SECONDS }
    const chain = await askCa(question, this.#closing.signal)
    const { certificate, untilMs } = checkCertificates(chain, { id: this.#id, key, roots, rootsFile }, clock.now())
    return { material: { id: this.#id, certificate, key, roots }, untilMs }
  }

  #succeed({ material, untilMs }: Omit<Held, 'issuedMs'>): void {
    const issuedMs = clock.now()
    this.#failed = undefined
    this.#endedMs = undefined
    this.#backOff.reset()
    const share = RENEWAL * (1 + JITTER * (2 * this.#random() - 1))
    this.#nextMs = issuedMs + Math.max(SHORTEST_RENEWAL_MS, (untilMs - issuedMs) * share)
    this.#hold({ material, issuedMs, untilMs })
    const until = new Date(untilMs).toISOString()
    this.#options.log('info', 'certificate of the mesh issued', { id: this.#id, server: this.#ca, until })
    this.#options.whyNotReadyChanged()
  }

  #hold(held: Held): void {
    this.#held = held
    this.#options.secrets(this.#secrets)
    this.#options.publish(held.material)
  }

  #fail(failure: MeshFailure): void {
    this.#nextMs = clock.now() + this.#backOff.next()
    this.#options.failed(failure.reason)
    this.#tell(failure)
  }

  /** A cause that lasts is logged once. */
  #tell({ reason, message }: MeshFailure): void {
    const isNews = reason !== this.#failed?.reason
    const sinceMs = this.#failed?.sinceMs ?? clock.now()
    const words = reason === 'roots' || reason === 'token' ? message : `${this.#ca}: ${message}`
    this.#failed = { reason, words, sinceMs }
    const what = this.#held === undefined ? NONE : NOT_RENEWED
    if (isNews) this.#options.log('warn', what, { id: this.#id, server: this.#ca, reason, cause: message })
    this.#options.whyNotReadyChanged()
  }

  #dropEnded(): void {
    const held = this.#held
    if (held === undefined || clock.now() < held.untilMs) return
    this.#held = undefined
    this.#endedMs = held.untilMs
    this.#options.publish(undefined)
    this.#options.log('error', 'the certificate of the mesh has expired; no tunnel can be opened or accepted', {
      id: this.#id,
      until: new Date(held.untilMs).toISOString(),
      cause: this.#failed?.words,
    })
    this.#options.whyNotReadyChanged()
  }

  /** Until the next attempt, the end of the certificate or the next look, whichever is first. */
  #wait(): Promise<void> {
    if (this.#isClosed) return Promise.resolve()
    const nextMs = Math.min(this.#nextMs, this.#held?.untilMs ?? Number.POSITIVE_INFINITY) - clock.now()
    return new Promise((resolve) => {
      const timer = clock.after(Math.min(Math.max(SHORTEST_WAIT_MS, nextMs), LOOK_MS), resolve)
      this.#endWait = () => {
        timer.cancel()
        resolve()
      }
    })
  }
}
