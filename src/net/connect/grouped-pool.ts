import type { Socket } from 'node:net'
import type { Destination } from '../destination.ts'
import type { Connector } from './connector.ts'
import type { DialContext } from './dial.ts'
import type { PoolSettings } from './pool-settings.ts'

/** The connections of one destination. */
export interface ConnectionGroup {
  /** Takes a connected socket, dialled with `context`. */
  adopt(context: DialContext, socket: Socket): void
  close(): void
  /** There are connections, or some are being opened. */
  readonly isOpen: boolean
}

/** Connections by destination. A group lives while it has connections; it is made anew when somebody asks. */
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

  /** Whether a connection of that destination is open and takes requests. */
  isOpen(key: string): boolean {
    return this.#groups.get(key)?.isOpen === true
  }

  /** Takes a connected socket of `destination`, dialled with `context`. */
  adopt(destination: Destination, context: DialContext, socket: Socket): void {
    this.group(destination).adopt(context, socket)
  }

  close(): void {
    this.closing = true
    for (const group of [...this.#groups.values()]) group.close()
  }

  /** A group has neither connections nor requests any more. */
  forget(key: string, group: Group): void {
    // Another one may have taken its place.
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
