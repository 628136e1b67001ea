/** Where a listener accepts connections. Several listeners can share it. */
export interface Socket {
  readonly address: string
  readonly port: number
}

/** Key of a socket: `address:port`. */
export function socketKey({ address, port }: Socket): string {
  return `${address}:${port}`
}

/** A socket that is open for connections. */
export interface ListeningSocket {
  /** Its key. */
  readonly socket: string
  /** Its number in this process. */
  readonly descriptor: number
}
