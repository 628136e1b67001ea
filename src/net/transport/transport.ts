import type { ByteCounts, ConnectedSocket } from './connected-socket.ts'

/** One byte stream to a peer: the interface of a socket to protocol code. */
export interface Transport {
  /** Whether bytes written now can still reach the peer, as far as is known. */
  readonly usable: boolean
  /** Whether further bytes would be queued in memory; `TransportOwner.drained` follows. */
  readonly backed: boolean
  /** Bytes queued in memory. */
  readonly unsentBytes: number
  /** Counts until the socket is closed, and keeps the sums. Only with a socket. */
  readonly counts?: ByteCounts
  /** Writes latin-1 text, one byte per character. */
  writeText(text: string): void
  /** Writes `buffer[start, end)`, whose memory may change as soon as this returns. */
  writeBytes(buffer: Buffer, start: number, end: number): void
  pause(): void
  resume(): void
  /** Ends our direction after the written bytes; the peer may continue to send. */
  end(): void
  /** Closes both directions now; unsent bytes are lost. */
  destroy(): void
  /** Like `destroy`, but, where possible, the peer can distinguish it from an orderly end. */
  reset(): void
  /** Releases the socket, paused, with `unread` put back into it; later events are ignored. Only with a socket. */
  detach?(unread: Buffer): ConnectedSocket
}

/** Receives the events of a transport. */
export interface TransportOwner {
  /** Bytes have arrived. The transport reuses `buffer` after this returns. */
  bytes(buffer: Buffer, start: number, end: number): void
  /** The peer has ended its direction. */
  ended(): void
  /** All queued bytes have been sent. */
  drained(): void
  /** The transport is closed. The last event, exactly once. */
  closed(): void
}

/** Up to this size, pieces of output are coalesced into one write. */
export const COALESCE_BYTES = 16_384

/** Up to this size, bytes are cheaper to forward as text, although text is copied more often. */
export const TEXT_BYTES = 2048
