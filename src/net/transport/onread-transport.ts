import type net from 'node:net'
import { deliver } from './deliver.ts'
import { openPlainTransport, readDirectly } from './direct-transport.ts'
import { readBuffer } from './read-buffer.ts'
import type { Transport, TransportOwner } from './transport.ts'

/** Passes on what a socket reads; the owner is named once the connection stands. */
export class ReadRelay {
  owner: TransportOwner | undefined
  readonly onread = {
    buffer: readBuffer,
    callback: (length: number): boolean => {
      if (this.owner !== undefined) deliver(this.owner, readBuffer, 0, length)
      return true
    },
  }
}

/** A transport on a socket that was made with `relay.onread`, for clients the documented option of `net.connect`. */
export function openOnreadTransport(socket: net.Socket, relay: ReadRelay, owner: TransportOwner): Transport {
  relay.owner = owner
  const transport = openPlainTransport(socket, owner)
  readDirectly(socket, owner)
  return transport
}
