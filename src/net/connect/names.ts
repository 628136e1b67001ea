import dns from 'node:dns'
import net from 'node:net'
import type { ConnectFailure } from '../failure.ts'
import { type TimerWheel, WheelTimer } from '../timer-wheel.ts'
import { lookupFailure } from './connect-failure.ts'

/** Finds all addresses of a name, in the order in which they are to be tried. */
export type Lookup = (
  host: string,
  done: (error: NodeJS.ErrnoException | null, addresses: readonly string[]) => void,
) => void

/** The resolver of the system. It does not say how long an answer is good for. */
export const systemLookup: Lookup = (host, done) => {
  dns.lookup(host, { all: true, order: 'verbatim' }, (error, found) => {
    done(error, error === null ? found.map(({ address }) => address) : [])
  })
}

/** How long the answer for a name in use is good. */
const FRESH_MS = 5000
/** Answers in a row without an address, before its connections are given up: some servers give a part of their addresses each time. */
const MAX_ABSENT = 3

type Resolved = (addresses: readonly string[] | null, failure: ConnectFailure | null) => void

/** A connection to some address of a name, from its dial to its end. While there is one, the name is in use. */
export interface NameUse {
  /** Called when the address has not been among those of the name for a while. */
  outdated: () => void
  /** The current addresses; starts a lookup if none are known. */
  resolve(done: Resolved): void
  /** The connection stands, to that address. */
  chose(address: string): void
  /** The connection is gone. */
  release(): void
}

/**
 * The addresses of names that connections lead to: looked up again while they are in use, so that new connections go where the name
 * leads now, and old ones end when it leads elsewhere.
 */
export class Names {
  readonly #wheel: TimerWheel
  readonly #lookup: Lookup
  readonly #inUse = new Map<string, Name>()

  constructor(wheel: TimerWheel, lookup: Lookup) {
    this.#wheel = wheel
    this.#lookup = lookup
  }

  /** Begins to use a name; whoever does ends with `release`. */
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
  readonly #timer = new WheelTimer(() => this.#ask())
  /** The last good answer. */
  #addresses: readonly string[] | undefined
  #asking = false
  /** Those that have nothing to go by yet. */
  #asked: Resolved[] = []
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
    this.#asked.push(done)
    this.#ask()
  }

  release(use: Use): void {
    if (!this.#uses.delete(use) || this.#uses.size > 0) return
    this.#settings.wheel.remove(this.#timer)
    this.#settings.unused()
  }

  /** One look-up at a time, however long it takes. */
  #ask(): void {
    if (this.#asking) return
    this.#asking = true
    this.#settings.lookup(this.#host, (error, addresses) => {
      this.#asking = false
      if (error !== null || addresses.length === 0) this.#failed(error)
      else this.#answered(addresses)
      if (this.#uses.size > 0) this.#settings.wheel.arm(this.#timer, FRESH_MS)
    })
  }

  #answered(addresses: readonly string[]): void {
    this.#addresses = addresses
    for (const use of [...this.#uses]) use.compare(addresses)
    for (const done of this.#takeAsked()) done(rotate(addresses, this.#resolved++), null)
  }

  /** Known addresses stay: a failing resolver is no evidence about the servers. */
  #failed(error: NodeJS.ErrnoException | null): void {
    const failure = lookupFailure(this.#host, error)
    for (const done of this.#takeAsked()) done(null, failure)
  }

  #takeAsked(): Resolved[] {
    const asked = this.#asked
    this.#asked = []
    return asked
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
 * The same addresses, beginning with another one: an answer serves many connections, which are to be spread as many answers would
 * spread them. The first family stays first, since the system had a reason for it.
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
