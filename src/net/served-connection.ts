/** A connection at work, as its listener sees it: whatever protocol it speaks. */
export interface ServedConnection {
  /** Takes nothing new, finishes what is under way, then closes. */
  drain(): void
  /** Closes now. */
  abort(): void
}
