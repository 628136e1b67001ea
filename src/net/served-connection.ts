/** An accepted connection of any protocol, for its listener. */
export interface ServedConnection {
  /** Continues, but tells the client not to reuse the connection. */
  discourageReuse(): void
  /** Accepts no further requests, finishes those in flight, then closes. */
  drain(): void
  /** Closes now. */
  abort(): void
}
