import type { Socket } from 'node:net'

/** What has passed through a socket, under TLS without the TLS. */
export interface ByteCounts {
  readonly bytesRead: number
  readonly bytesWritten: number
}

/** One byte stream to a peer: what protocol code sees of a socket. */
export interface Transport {
  /** Bytes written now can still reach the peer, as far as is known. */
  readonly usable: boolean
  /** More bytes would have to be queued in memory; `TransportOwner.drained` follows. */
  readonly backed: boolean
  /** Bytes that wait in memory. */
  readonly unsentBytes: number
  /** Goes on counting until it is closed, and keeps the sums. Where there is a socket. */
  readonly counts?: ByteCounts
  /** Writes latin-1 text, one byte per character. */
  writeText(text: string): void
  /** Writes `buffer[start, end)`, whose memory may change as soon as this returns. */
  writeBytes(buffer: Buffer, start: number, end: number): void
  pause(): void
  resume(): void
  /** Ends our direction behind what was written; the peer may go on sending. */
  end(): void
  /** Closes both directions now; what was not sent yet is lost. */
  destroy(): void
  /** As `destroy`, such that the peer cannot take it for an orderly end where that is possible. */
  reset(): void
  /** Gives the socket away, paused and as though `unread` had not been read of it; the owner hears no more. Where there is a socket. */
  detach?(unread: Buffer): Socket
}

/** Who is told what happens on a transport. */
export interface TransportOwner {
  /** Bytes have come. `buffer` belongs to the transport again after this returns. */
  bytes(buffer: Buffer, start: number, end: number): void
  /** The peer has ended its direction. */
  ended(): void
  /** What was queued has been sent. */
  drained(): void
  /** The transport is gone; the last call, made once. */
  closed(): void
}

/** Up to this size pieces of output wait for each other and go out in one write. */
export const COALESCE_BYTES = 16_384

/** Up to this size bytes are cheaper to pass on as text, though that is copied more often. */
export const TEXT_BYTES = 2048
