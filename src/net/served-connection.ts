/** A connection at work, as its listener sees it: whatever protocol it speaks. */
export interface ServedConnection {
  /** Goes on, but lets the client know that it should not come back on this connection. */
  discourageReuse(): void
  /** Takes nothing new, finishes what is under way, then closes. */
  drain(): void
  /** Closes now. */
  abort(): void
}
