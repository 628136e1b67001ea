/** The interface of a connection for the exchange that it carries. */
export interface Carrier {
  /** False while it is being opened: nothing can have reached the server. */
  readonly connected: boolean
  /** There is no connection yet, and as many as there may be are busy. */
  readonly awaitsRoom: boolean
  /** Closes the connection; it carries nothing any more. */
  destroy(): void
  /** Somebody waits for bytes of the response body. */
  bodyWanted(): void
  /** The receiver of the body cannot take more for now. */
  bodyHeld(): void
  /** The client's side of a tunnel has ended. */
  endOutput(): void
  /** The exchange was detached; its remaining events are ignored. */
  abandonExchange(): void
}
