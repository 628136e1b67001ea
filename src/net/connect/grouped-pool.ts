import type { Destination } from '../destination.ts'
import type { ConnectedSocket } from '../transport/connected-socket.ts'
import type { Connector } from './connector.ts'
import type { DialContext } from './dial.ts'
import type { NameUse } from './names.ts'
import type { PoolSettings } from './pool-settings.ts'

/** A connected socket that was dialled outside the pool. */
export interface AdoptedSocket {
  readonly socket: ConnectedSocket
  /** The context that it was dialled with. */
  readonly context: DialContext
  /** The use of the host name; undefined for an IP address. */
  readonly use: NameUse | undefined
  /** Called once, when the server has begun HTTP/2 with its SETTINGS, or its connection has ended without them. */
  readonly settled?: ((speaks: boolean) => void) | undefined
}

/** The connections of one destination. */
export interface ConnectionGroup {
  adopt(adopted: AdoptedSocket): void
  close(): void
  /** Whether there are connections, or some are being opened. */
  readonly isOpen: boolean
}

/** Connections by destination. A group exists while it has connections; it is created again on demand. */
export abstract class GroupedPool<Group extends ConnectionGroup> {
  readonly settings: PoolSettings
  readonly connector: Connector
  closing = false
  readonly #groups = new Map<string, Group>()

  constructor(settings: PoolSettings, connector: Connector) {
    this.settings = settings
    this.connector = connector
  }

  protected abstract openGroup(destination: Destination): Group

  /** Whether the destination has an open connection that accepts requests. */
  isOpen(key: string): boolean {
    return this.#groups.get(key)?.isOpen === true
  }

  /** Adds a connected socket of `destination`. */
  adopt(destination: Destination, adopted: AdoptedSocket): void {
    this.group(destination).adopt(adopted)
  }

  close(): void {
    this.closing = true
    for (const group of [...this.#groups.values()]) group.close()
  }

  /** Removes a group that has no connections and no requests. */
  forget(key: string, group: Group): void {
    // Another group may have replaced it.
    if (this.#groups.get(key) === group) this.#groups.delete(key)
  }

  protected find(key: string): Group | undefined {
    return this.#groups.get(key)
  }

  protected group(destination: Destination): Group {
    const known = this.#groups.get(destination.key)
    if (known !== undefined) return known
    const group = this.openGroup(destination)
    this.#groups.set(destination.key, group)
    return group
  }
}
