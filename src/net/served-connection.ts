/**
 * How long an idle connection stays open when it is drained. A request that its client had sent before it could know is served, and the
 * response closes the connection.
 */
export const DRAIN_GRACE_MS = 500

/** An accepted connection of any protocol, for its listener. */
export interface ServedConnection {
  /** Continues, but tells the client not to reuse the connection. */
  discourageReuse(): void
  /** Finishes the requests in flight, then closes: an idle connection after `DRAIN_GRACE_MS`. */
  drain(): void
  /** Closes now. */
  abort(): void
}
