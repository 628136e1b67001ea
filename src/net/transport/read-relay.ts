import { deliver } from './deliver.ts'
import { readBuffer } from './read-buffer.ts'
import type { TransportOwner } from './transport.ts'

/** Reads a socket into the shared buffer and passes the bytes on; the owner is set once the connection is established. */
export class ReadRelay {
  owner: TransportOwner | undefined
  /** The option with which a socket is created; for clients the documented one of `net.connect`. */
  readonly onread = {
    buffer: readBuffer,
    callback: (length: number): boolean => {
      if (this.owner !== undefined) deliver(this.owner, readBuffer, 0, length)
      return true
    },
  }
}
