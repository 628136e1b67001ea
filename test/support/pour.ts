import type { Socket } from 'node:net'

const POURED_BYTES = 100_000_000

/**
 * Writes the same bytes again and again, as fast as the other side reads them, up to 100 MB, and closes.
 * @param isOver the other side wants no more
 */
export function pour(socket: Socket, bytes: Buffer, isOver = () => false): void {
  let left = Math.ceil(POURED_BYTES / bytes.length)
  const more = () => {
    if (socket.destroyed || isOver()) return
    while (left > 0) {
      left--
      if (!socket.write(bytes)) return
    }
    socket.end()
  }
  socket.on('drain', more)
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
