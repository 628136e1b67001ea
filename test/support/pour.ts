import type { Socket } from 'node:net'

/** More than the limits of the gateway and the buffers of the kernel take in of an answer that is given up. */
export const POURED_BYTES = 24 * 2 ** 20
const PIECE_BYTES = 2 ** 16

const taken = new WeakSet<Socket>()

/** Whether the other side took everything that was poured into a socket. */
export function tookAll(socket: Socket): boolean {
  return taken.has(socket)
}

/** Notes that the other side took everything, and closes. */
export function noteTaken(socket: Socket): void {
  taken.add(socket)
  socket.end()
}

/**
 * Writes the same bytes again and again, as fast as the other side reads them, up to `POURED_BYTES`, and closes. Writes a piece only when the
 * kernel has taken the one before, so that nothing that waits in this process counts as taken.
 */
export function pour(socket: Socket, bytes: Buffer): void {
  const piece = Buffer.concat(Array<Buffer>(Math.ceil(PIECE_BYTES / bytes.length)).fill(bytes))
  let left = Math.ceil(POURED_BYTES / piece.length)
  const more = () => {
    if (socket.destroyed) return
    if (left === 0) return noteTaken(socket)
    left--
    socket.write(piece, (error) => {
      // In the next turn, after what has arrived from the other side.
      if (error == null) setImmediate(more)
    })
  }
  more()
}

/** Writes one byte of a text every 20 ms. */
export function drip(socket: Socket, text: string): void {
  let at = 0
  const timer = setInterval(() => {
    if (at === text.length || socket.destroyed) return clearInterval(timer)
    socket.write(text[at++]!, 'latin1')
  }, 20).unref()
}
