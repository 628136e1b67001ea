import type net from 'node:net'
import { HoldBuffer } from '../transport/hold-buffer.ts'

/** The result of parsing the beginning of a connection. */
export interface Finding {
  /** Consumed bytes; the next reader starts after them. */
  readonly usedBytes: number
}

/** A read in progress. */
export interface ReadingAhead {
  /** Cancels and puts the bytes back. @returns the number of bytes put back */
  stop(): number
}

/**
 * Reads a paused socket until `find` returns a result; undefined requests more bytes, so `find` must limit them. Then the socket is
 * paused again, and all bytes after `usedBytes` are put back. A socket that ends earlier is destroyed. `done` is called at most once.
 */
export function readAhead<T extends Finding>(
  socket: net.Socket,
  find: (bytes: Buffer) => T | undefined,
  done: (finding: T) => void,
): ReadingAhead {
  const held = new HoldBuffer()
  const putBack = (unread: Buffer): void => {
    socket.off('data', read).off('end', leave)
    socket.pause()
    if (unread.length > 0) socket.unshift(unread)
  }
  const read = (piece: Buffer) => {
    // Usually the first piece is enough.
    let bytes = piece
    if (held.length > 0) {
      held.append(piece, 0, piece.length)
      bytes = held.bytes.subarray(0, held.length)
    }
    const finding = find(bytes)
    if (finding !== undefined) {
      putBack(bytes.subarray(finding.usedBytes))
      done(finding)
    } else if (held.length === 0) held.append(piece, 0, piece.length)
  }
  const leave = () => void socket.destroy()
  socket.on('data', read).on('end', leave)
  socket.resume()
  return {
    stop: () => {
      putBack(held.bytes.subarray(0, held.length))
      return held.length
    },
  }
}
