import net from 'node:net'
import { clock } from '#base/clock.ts'
import { lookupFailure } from '../connect-failure.ts'
import type { ConnectFailure } from '../failure.ts'
import { type TimerWheel, WheelTimer } from '../timer-wheel.ts'

/** Why an answer has the addresses of one family only: the answer for the other one is late, or the server failed. */
export type MissingFamily = 'late' | 'failed'

/**
 * Resolves all addresses of a name.
 * @param done `ttlMs` is how long the answer is valid; undefined: the source does not say. Called once more after an answer with a late
 * family, which then is in the answer
 */
export type Lookup = (
  host: string,
  done: (
    error: NodeJS.ErrnoException | null,
    addresses: readonly string[],
    ttlMs?: number,
    missing?: MissingFamily,
  ) => void,
) => void

/** Lifetime of an answer whose source states none. */
const FRESH_MS = 5000
/** Bounds of a stated lifetime: a TTL of 0 must not cause a lookup for each connection, and a removed server must be noticed. */
const MIN_FRESH_MS = 1000
const MAX_FRESH_MS = 60_000
/** After a failed lookup; doubles with every further one. Until then the failure is the answer. */
const MIN_BACKOFF_MS = 100
const MAX_BACKOFF_MS = 5000
/** Number of consecutive answers without an address before its connections are closed: some servers return only some of their addresses. */
const MAX_ABSENT = 3
/** Maximum number of names that are remembered without a connection. */
const MAX_UNUSED = 1000

/** @param isLast false: called again, with the addresses of the other family as well */
type Resolved = (addresses: readonly string[] | null, failure: ConnectFailure | null, isLast: boolean) => void

/** One connection that uses a name, from dial to close. */
export interface NameUse {
  /** Called when the address has been absent from the answers for a while. */
  outdated: () => void
  /** The current addresses; starts a lookup if none are known. */
  resolve(done: Resolved): void
  /** The connection was established to that address. */
  chose(address: string): void
  /** The connection has closed. */
  release(): void
}

/**
 * The addresses of the names that connections use. Names in use are resolved again when their answer expires, so that new connections use
 * the current addresses and connections to removed addresses end. Unused names are remembered until their answer expires.
 */
export class Names {
  readonly #wheel: TimerWheel
  readonly #lookup: Lookup
  readonly #known = new Map<string, Name>()
  /** Names without a connection, the one that has been unused for longest first. */
  readonly #unused = new Set<Name>()

  constructor(wheel: TimerWheel, lookup: Lookup) {
    this.#wheel = wheel
    this.#lookup = lookup
  }

  /** Number of names that are remembered. */
  get size(): number {
    return this.#known.size
  }

  /** Begins to use a name, until `release`. */
  use(host: string): NameUse {
    let name = this.#known.get(host)
    if (name === undefined) {
      name = new Name(host, {
        wheel: this.#wheel,
        lookup: this.#lookup,
        unused: (name) => this.#keep(name),
        expired: (name) => this.#forget(name),
      })
      this.#known.set(host, name)
    }
    this.#unused.delete(name)
    return name.use()
  }

  #keep(name: Name): void {
    this.#unused.add(name)
    if (this.#unused.size <= MAX_UNUSED) return
    const [oldest] = this.#unused
    this.#forget(oldest!)
  }

  #forget(name: Name): void {
    name.end()
    this.#unused.delete(name)
    this.#known.delete(name.host)
  }
}

interface NameSettings {
  readonly wheel: TimerWheel
  readonly lookup: Lookup
  /** The last connection has closed. */
  readonly unused: (name: Name) => void
  /** What is known about an unused name is no longer valid. */
  readonly expired: (name: Name) => void
}

class Name {
  readonly host: string
  readonly #settings: NameSettings
  readonly #uses = new Set<Use>()
  readonly #timer = new WheelTimer(() => this.#expire())
  /** The last good answer. */
  #addresses: readonly string[] | undefined
  /** The last answer was this failure; undefined: it was good. */
  #failure: ConnectFailure | undefined
  #backoffMs = 0
  /** End of the wait after a failed lookup, in monotonic milliseconds. */
  #retryAtMs = 0
  #lookingUp = false
  /** Nothing is known about the second family yet: its first answer is late. */
  #isPartial = false
  /** Callers that wait for the first answer, or for the second family. */
  #waiting: Resolved[] = []
  #resolved = 0
  /** The address family of the last connection; 0: none was opened. */
  #family = 0
  #ended = false

  constructor(host: string, settings: NameSettings) {
    this.host = host
    this.#settings = settings
  }

  use(): Use {
    const use = new Use(this)
    this.#uses.add(use)
    return use
  }

  resolve(done: Resolved): void {
    if (this.#addresses !== undefined) {
      if (this.#isPartial) this.#waiting.push(done)
      return done(this.#inOrder(this.#addresses), null, !this.#isPartial)
    }
    if (this.#failure !== undefined && clock.monotonic() < this.#retryAtMs) return done(null, this.#failure, true)
    this.#waiting.push(done)
    this.#lookUp()
  }

  release(use: Use): void {
    if (!this.#uses.delete(use) || this.#uses.size > 0) return
    // A later request for the name continues its back-off.
    if (this.#failure !== undefined) this.#arm(2 * MAX_BACKOFF_MS)
    this.#settings.unused(this)
  }

  /** A connection to the address was established. */
  connected(address: string): void {
    this.#family = net.isIP(address)
  }

  end(): void {
    this.#ended = true
    this.#settings.wheel.remove(this.#timer)
  }

  #expire(): void {
    if (this.#uses.size > 0) this.#lookUp()
    else this.#settings.expired(this)
  }

  /** Starts a lookup; only one at a time runs. */
  #lookUp(): void {
    if (this.#lookingUp) return
    this.#lookingUp = true
    this.#settings.lookup(this.host, (error, addresses, ttlMs = FRESH_MS, missing) => {
      this.#lookingUp = missing === 'late'
      this.#isPartial = this.#lookingUp && this.#addresses === undefined
      if (error !== null || addresses.length === 0) return this.#failed(error)
      this.#addresses = missing === undefined ? addresses : this.#withKnownFamily(addresses)
      this.#failure = undefined
      this.#backoffMs = 0
      if (!this.#lookingUp) return this.#answered(this.#addresses, ttlMs)
      for (const done of [...this.#waiting]) done(this.#inOrder(this.#addresses), null, false)
    })
  }

  #answered(addresses: readonly string[], ttlMs: number): void {
    this.#arm(Math.min(Math.max(ttlMs, MIN_FRESH_MS), MAX_FRESH_MS))
    for (const use of [...this.#uses]) use.compare(addresses)
    for (const done of this.#takeWaiting()) done(this.#inOrder(addresses), null, true)
  }

  /** Keeps the known addresses of the family that is missing, as a failed lookup keeps those of both. */
  #withKnownFamily(addresses: readonly string[]): readonly string[] {
    const family = net.isIP(addresses[0]!)
    return [...addresses, ...(this.#addresses ?? []).filter((address) => net.isIP(address) !== family)]
  }

  /** Keeps the known addresses: a resolver failure says nothing about the servers. */
  #failed(error: NodeJS.ErrnoException | null): void {
    const failure = lookupFailure(this.host, error)
    this.#failure = failure
    this.#backoffMs = Math.min(Math.max(2 * this.#backoffMs, MIN_BACKOFF_MS), MAX_BACKOFF_MS)
    this.#retryAtMs = clock.monotonic() + this.#backoffMs
    this.#arm(this.#uses.size > 0 ? this.#backoffMs : 2 * MAX_BACKOFF_MS)
    for (const done of this.#takeWaiting()) done(null, failure, true)
  }

  #arm(ms: number): void {
    if (!this.#ended) this.#settings.wheel.arm(this.#timer, ms)
  }

  /**
   * The order in which to try addresses: families in turn (RFC 8305, 4), each rotated, so that connections that share one answer are
   * distributed over it. The family that worked last is first, since another one may be unreachable.
   */
  #inOrder(addresses: readonly string[]): readonly string[] {
    const by = this.#resolved++
    const hasFamily = addresses.some((address) => net.isIP(address) === this.#family)
    const family = hasFamily ? this.#family : net.isIP(addresses[0]!)
    const leading = rotate(
      addresses.filter((address) => net.isIP(address) === family),
      by,
    )
    const others = rotate(
      addresses.filter((address) => net.isIP(address) !== family),
      by,
    )
    const ordered: string[] = []
    for (let i = 0; i < Math.max(leading.length, others.length); i++) {
      if (i < leading.length) ordered.push(leading[i]!)
      if (i < others.length) ordered.push(others[i]!)
    }
    return ordered
  }

  #takeWaiting(): Resolved[] {
    const waiting = this.#waiting
    this.#waiting = []
    return waiting
  }
}

class Use implements NameUse {
  outdated: () => void = () => {}
  readonly #name: Name
  #address: string | undefined
  #absent = 0

  constructor(name: Name) {
    this.#name = name
  }

  resolve(done: Resolved): void {
    this.#name.resolve(done)
  }

  chose(address: string): void {
    this.#address = address
    this.#name.connected(address)
  }

  release(): void {
    this.#name.release(this)
  }

  compare(addresses: readonly string[]): void {
    if (this.#address === undefined) return
    if (addresses.includes(this.#address)) this.#absent = 0
    else if (++this.#absent === MAX_ABSENT) this.outdated()
  }
}

function rotate(addresses: readonly string[], by: number): readonly string[] {
  const first = by % addresses.length
  return first > 0 ? [...addresses.slice(first), ...addresses.slice(0, first)] : addresses
}
