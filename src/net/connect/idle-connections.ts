/** Maximum number of idle connections of a worker to destinations that clients have chosen. */
const MAX_IDLE = 512

/** Closes the connection. */
type Close = () => void

/**
 * Bounds the idle connections to destinations that clients choose: each client could leave one at any number of servers. The one that has
 * been idle for longest is closed.
 */
export class IdleConnections {
  readonly #idle = new Map<object, Close>()

  get size(): number {
    return this.#idle.size
  }

  /** The connection has become idle. */
  add(connection: object, close: Close): void {
    this.#idle.delete(connection)
    this.#idle.set(connection, close)
    if (this.#idle.size <= MAX_IDLE) return
    const [oldest, closeOldest] = this.#idle.entries().next().value!
    this.#idle.delete(oldest)
    closeOldest()
  }

  /** The connection is in use again, or has closed. */
  remove(connection: object): void {
    this.#idle.delete(connection)
  }
}
