import { clock } from '#base/clock.ts'
import type { ApiClient } from './api-client.ts'
import { ApiUnreadable } from './api-unreadable.ts'
import type { Term } from './fenced-api.ts'
import { type Members, membersOf, textOf } from './kubeconfig.ts'

/** In milliseconds. As those of client-go: a leader gives up well before another replica may take over. */
export interface LeaseTimes {
  /** Another replica takes over when it has seen no renewal for so long. */
  readonly durationMs: number
  /** The leader gives up so long after its last renewal. */
  readonly giveUpMs: number
  /** Between two attempts to renew, or to take over. */
  readonly retryMs: number
}

const TIMES: LeaseTimes = { durationMs: 15_000, giveUpMs: 10_000, retryMs: 2000 }
/** Of one request. Several fit into the time in which a lease must be renewed. */
const REQUEST_MS = 4000

/** The URL of the server that takes the reports of other replicas. */
const ADDRESS = 'gatewright.dev/leader-address'

export interface LeaderLeaseOptions {
  readonly client: Pick<ApiClient, 'get' | 'create' | 'replace'>
  readonly namespace: string
  readonly name: string
  /** This replica: a name that no other process ever has. */
  readonly identity: string
  /** Where other replicas reach this one, for the record; read at each renewal. */
  readonly address: () => string | undefined
  /** This replica leads, until the signal of the term aborts. */
  readonly gained: (term: Term) => void
  /** Another replica leads. @param address undefined: nobody leads, or not known */
  readonly followed: (address: string | undefined) => void
  /** Called with a message for the log. */
  readonly failed: (message: string) => void
  readonly reportBug: (error: unknown) => void
  readonly times?: LeaseTimes
}

/** A record of somebody else, and since when this replica knows it. */
interface Seen {
  readonly version: string
  readonly atMs: number
}

/**
 * Decides by a Lease (`coordination.k8s.io/v1`) which of several replicas leads. Clocks of replicas are never compared: a lease has expired when
 * this replica has not seen its record change for the whole duration, by a monotonic clock.
 */
export class LeaderLease {
  readonly #options: LeaderLeaseOptions
  readonly #times: LeaseTimes
  readonly #path: string
  readonly #list: string
  #term: OwnTerm | undefined
  /** The record as this replica wrote it last. */
  #own: Members | undefined
  #seen: Seen | undefined
  #followed: string | undefined
  #attempting: Promise<void> | undefined
  #timer: { cancel(): void } | undefined
  #end: { cancel(): void } | undefined
  /** Why the last attempt failed. */
  #problem: string | undefined = 'it was not read yet'
  #isKnown = false
  #isClosed = false

  constructor(options: LeaderLeaseOptions) {
    const { namespace, name, times = TIMES } = options
    this.#options = options
    this.#times = times
    this.#list = `/apis/coordination.k8s.io/v1/namespaces/${encodeURIComponent(namespace)}/leases`
    this.#path = `${this.#list}/${encodeURIComponent(name)}`
  }

  /** Tries to lead, from now on. */
  start(): void {
    void this.#run()
  }

  get leads(): boolean {
    return this.#term?.leads === true
  }

  /** Why it is not known who leads; undefined once the record was read or written, also if the API is away later. */
  get whyUnknown(): string | undefined {
    const { namespace, name } = this.#options
    return this.#isKnown ? undefined : `Lease ${namespace}/${name}: ${this.#problem}`
  }

  /** Ends the term, and gives the lease back, so that another replica leads without waiting. */
  async close(): Promise<void> {
    this.#isClosed = true
    this.#timer?.cancel()
    this.#endTerm()
    await this.#attempting
    const own = this.#own
    if (own === undefined) return
    const { holderIdentity: _, ...spec } = membersOf(own.spec)
    try {
      await this.#limited((signal) => this.#options.client.replace(this.#path, { ...own, spec }, { signal }))
    } catch (error) {
      // It expires.
      if (!(error instanceof ApiUnreadable)) this.#options.reportBug(error)
    }
  }

  async #run(): Promise<void> {
    this.#attempting = this.#attempt()
    await this.#attempting
    if (!this.#isClosed) this.#timer = clock.after(this.#times.retryMs, () => void this.#run())
  }

  async #attempt(): Promise<void> {
    const isRenewal = this.#own !== undefined
    try {
      await this.#acquire()
      this.#problem = undefined
      this.#isKnown = true
    } catch (error) {
      this.#own = undefined
      if (!(error instanceof ApiUnreadable)) return this.#options.reportBug(error)
      if (error.status !== 409) return this.#fail(error)
      // Somebody has changed the record of this leader: who leads must be known at once.
      if (isRenewal) await this.#attempt()
    }
  }

  #fail({ message }: ApiUnreadable): void {
    if (message !== this.#problem) this.#options.failed(`${message}; without its lease, this replica writes nothing`)
    this.#problem = message
  }

  /** @throws ApiUnreadable, with 409 if another replica was faster */
  async #acquire(): Promise<void> {
    const { client, identity } = this.#options
    const found = this.#own ?? (await this.#read())
    if (this.#isClosed) return
    const holder = textOf(membersOf(found?.spec).holderIdentity) ?? ''
    if (found !== undefined && holder !== '' && holder !== identity && !this.#hasExpired(found)) {
      this.#lose()
      return this.#follow(textOf(membersOf(membersOf(found.metadata).annotations)[ADDRESS]))
    }
    // Others see the renewal later than this.
    const sentMs = clock.monotonic()
    const record = this.#record(found)
    const { status, body } = await this.#limited((signal) =>
      found === undefined
        ? client.create(this.#list, record, { signal })
        : client.replace(this.#path, record, { signal }),
    )
    if (status === 404) throw new ApiUnreadable(`${this.#path} cannot be written: it or its namespace is gone`)
    this.#hold(body, sentMs)
  }

  async #read(): Promise<Members | undefined> {
    const { status, body } = await this.#limited((signal) => this.#options.client.get(this.#path, { signal }))
    return status === 200 ? body : undefined
  }

  /** Whether the record of another replica has not changed for its whole duration. */
  #hasExpired({ metadata, spec }: Members): boolean {
    const version = textOf(membersOf(metadata).resourceVersion) ?? ''
    const nowMs = clock.monotonic()
    if (this.#seen?.version !== version) this.#seen = { version, atMs: nowMs }
    const seconds = membersOf(spec).leaseDurationSeconds
    const durationMs = typeof seconds === 'number' ? seconds * 1000 : this.#times.durationMs
    return nowMs - this.#seen.atMs >= durationMs
  }

  /** The record with this replica as its holder. */
  #record(found: Members | undefined): object {
    const { namespace, name, identity, address } = this.#options
    const now = microTime()
    const before = membersOf(found?.spec)
    const isOwn = before.holderIdentity === identity
    const transitions = typeof before.leaseTransitions === 'number' ? before.leaseTransitions : 0
    const { [ADDRESS]: _, ...annotations } = membersOf(membersOf(found?.metadata).annotations)
    const url = address()
    return {
      apiVersion: 'coordination.k8s.io/v1',
      kind: 'Lease',
      metadata: {
        ...membersOf(found?.metadata),
        namespace,
        name,
        annotations: { ...annotations, ...(url !== undefined && { [ADDRESS]: url }) },
      },
      spec: {
        ...before,
        holderIdentity: identity,
        leaseDurationSeconds: Math.ceil(this.#times.durationMs / 1000),
        acquireTime: isOwn ? before.acquireTime : now,
        renewTime: now,
        leaseTransitions: isOwn || found === undefined ? transitions : transitions + 1,
      },
    }
  }

  #hold(record: Members, sentMs: number): void {
    this.#own = record
    const untilMs = sentMs + this.#times.giveUpMs
    const leftMs = untilMs - clock.monotonic()
    // The answer came too late; the next attempt renews.
    if (this.#isClosed || leftMs <= 0) return
    this.#end?.cancel()
    this.#end = clock.after(leftMs, () => this.#lose())
    if (this.#term !== undefined) {
      this.#term.untilMs = untilMs
      return
    }
    this.#term = new OwnTerm(untilMs)
    this.#follow(undefined)
    this.#options.gained(this.#term)
  }

  #lose(): void {
    this.#own = undefined
    this.#endTerm()
  }

  #endTerm(): void {
    this.#end?.cancel()
    const term = this.#term
    this.#term = undefined
    term?.end()
  }

  #follow(address: string | undefined): void {
    if (address === this.#followed) return
    this.#followed = address
    this.#options.followed(address)
  }

  async #limited<T>(ask: (signal: AbortSignal) => Promise<T>): Promise<T> {
    const limit = new AbortController()
    const timer = clock.after(REQUEST_MS, () => limit.abort())
    try {
      return await ask(limit.signal)
    } finally {
      timer.cancel()
    }
  }
}

class OwnTerm implements Term {
  untilMs: number
  readonly #end = new AbortController()

  constructor(untilMs: number) {
    this.untilMs = untilMs
  }

  get signal(): AbortSignal {
    return this.#end.signal
  }

  get leads(): boolean {
    return !this.signal.aborted && clock.monotonic() < this.untilMs
  }

  end(): void {
    this.#end.abort()
  }
}

/** The time now as `v1.MicroTime`, which people read; nothing is computed with it. */
function microTime(): string {
  return new Date(clock.now()).toISOString().replace('Z', '000Z')
}
