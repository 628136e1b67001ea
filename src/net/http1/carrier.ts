/** The connection of an exchange. */
export interface Carrier {
  /** False while the connection is being opened: nothing can have reached the server. */
  readonly connected: boolean
  /** The request waits because all permitted connections are busy. */
  readonly awaitsRoom: boolean
  /** Closes the connection. */
  destroy(): void
  /** The response body has a consumer now. */
  bodyWanted(): void
  /** The consumer of the response body is backed up. */
  bodyHeld(): void
  /** The client has ended its direction of a tunnel. */
  endOutput(): void
  /** The exchange was detached; its remaining events are ignored. */
  abandonExchange(): void
}
