import { beginEvent, endEvent } from '#base/turn.ts'
import type { TransportOwner } from './transport.ts'

/** Passes read bytes to the owner of a transport. */
export function deliver(owner: TransportOwner, buffer: Buffer, start: number, end: number): void {
  beginEvent()
  try {
    owner.bytes(buffer, start, end)
  } finally {
    endEvent()
  }
}
