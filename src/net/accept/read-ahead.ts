import type net from 'node:net'
import { HoldBuffer } from '../transport/hold-buffer.ts'

/** What was found at the beginning of a connection. */
export interface Finding {
  /** Consumed bytes; the next reader starts after them. */
  readonly usedBytes: number
}

/** Reading that is under way. */
export interface ReadingAhead {
  /** Gives up: what was read is put back. @returns how many bytes that is */
  stop(): number
}

/**
 * Reads a paused socket until `find` has found what it looks for; undefined asks for more bytes, so `find` bounds them itself. Then
 * the socket is paused again and is as though only `usedBytes` had been read of it. A socket that ends before is destroyed.
 * `done` is called at most once.
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
    // Mostly the first piece is all that it takes.
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
