import dns from 'node:dns'
import net from 'node:net'
import type { ConnectFailure } from '../failure.ts'
import { type TimerWheel, WheelTimer } from '../timer-wheel.ts'
import { lookupFailure } from './connect-failure.ts'

/** Resolves all addresses of a name, in the order in which to try them. */
export type Lookup = (
  host: string,
  done: (error: NodeJS.ErrnoException | null, addresses: readonly string[]) => void,
) => void

/** The system resolver. It gives no TTL. */
export const systemLookup: Lookup = (host, done) => {
  dns.lookup(host, { all: true, order: 'verbatim' }, (error, found) => {
    done(error, error === null ? found.map(({ address }) => address) : [])
  })
}

/** Lifetime of an answer while the name is in use. */
const FRESH_MS = 5000
/** Number of consecutive answers without an address before its connections are closed: some servers return only some of their addresses. */
const MAX_ABSENT = 3

type Resolved = (addresses: readonly string[] | null, failure: ConnectFailure | null) => void

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
 * The addresses of the names that connections use. Names in use are resolved again, so that new connections use the current addresses
 * and connections to removed addresses end.
 */
export class Names {
  readonly #wheel: TimerWheel
  readonly #lookup: Lookup
  readonly #inUse = new Map<string, Name>()

  constructor(wheel: TimerWheel, lookup: Lookup) {
    this.#wheel = wheel
    this.#lookup = lookup
  }

  /** Begins to use a name, until `release`. */
  use(host: string): NameUse {
    let name = this.#inUse.get(host)
    if (name === undefined) {
      name = new Name(host, {
        wheel: this.#wheel,
        lookup: this.#lookup,
        unused: () => this.#inUse.delete(host),
      })
      this.#inUse.set(host, name)
    }
    return name.use()
  }
}

interface NameSettings {
  readonly wheel: TimerWheel
  readonly lookup: Lookup
  readonly unused: () => void
}

class Name {
  readonly #host: string
  readonly #settings: NameSettings
  readonly #uses = new Set<Use>()
  readonly #timer = new WheelTimer(() => this.#lookUp())
  /** The last good answer. */
  #addresses: readonly string[] | undefined
  #lookingUp = false
  /** Callers that wait for the first answer. */
  #waiting: Resolved[] = []
  #resolved = 0

  constructor(host: string, settings: NameSettings) {
    this.#host = host
    this.#settings = settings
  }

  use(): Use {
    const use = new Use(this)
    this.#uses.add(use)
    return use
  }

  resolve(done: Resolved): void {
    if (this.#addresses !== undefined) return done(rotate(this.#addresses, this.#resolved++), null)
    this.#waiting.push(done)
    this.#lookUp()
  }

  release(use: Use): void {
    if (!this.#uses.delete(use) || this.#uses.size > 0) return
    this.#settings.wheel.remove(this.#timer)
    this.#settings.unused()
  }

  /** Starts a lookup; only one at a time runs. */
  #lookUp(): void {
    if (this.#lookingUp) return
    this.#lookingUp = true
    this.#settings.lookup(this.#host, (error, addresses) => {
      this.#lookingUp = false
      if (error !== null || addresses.length === 0) this.#failed(error)
      else this.#answered(addresses)
      if (this.#uses.size > 0) this.#settings.wheel.arm(this.#timer, FRESH_MS)
    })
  }

  #answered(addresses: readonly string[]): void {
    this.#addresses = addresses
    for (const use of [...this.#uses]) use.compare(addresses)
    for (const done of this.#takeWaiting()) done(rotate(addresses, this.#resolved++), null)
  }

  /** Keeps the known addresses: a resolver failure says nothing about the servers. */
  #failed(error: NodeJS.ErrnoException | null): void {
    const failure = lookupFailure(this.#host, error)
    for (const done of this.#takeWaiting()) done(null, failure)
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

/**
 * Rotates the addresses, so that connections that share one answer are distributed over them. The address family of the first address
 * stays first, because the system chose it.
 */
function rotate(addresses: readonly string[], by: number): readonly string[] {
  const family = net.isIP(addresses[0]!)
  const other = addresses.findIndex((address) => net.isIP(address) !== family)
  const leading = other < 0 ? addresses.length : other
  const first = by % leading
  return first === 0
    ? addresses
    : [...addresses.slice(first, leading), ...addresses.slice(0, first), ...addresses.slice(leading)]
}
