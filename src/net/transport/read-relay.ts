import { deliver } from './deliver.ts'
import { readBuffer } from './read-buffer.ts'
import type { TransportOwner } from './transport.ts'

/** Reads a socket into the shared buffer, and passes on what was read; the owner is named once the connection stands. */
export class ReadRelay {
  owner: TransportOwner | undefined
  /** What a socket is made with; for clients the documented option of `net.connect`. */
  readonly onread = {
    buffer: readBuffer,
    callback: (length: number): boolean => {
      if (this.owner !== undefined) deliver(this.owner, readBuffer, 0, length)
      return true
    },
  }
}
