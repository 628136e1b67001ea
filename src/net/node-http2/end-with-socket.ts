import type { Duplex } from 'node:stream'

/**
 * Begins a session that ends when `socket` is closed, not when it fails. At an error Node destroys the session while output is
 * still pending, so the session never learns that this output was canceled and keeps the streams it came from until it is freed
 * itself. If one of them holds an incomplete header block, Node then aborts the process (docs/decisions/0121-http2.md).
 */
export function endWithSocket<Session>(socket: Duplex, begin: () => Session): Session {
  const before = new Set(socket.listeners('error'))
  const session = begin()
  for (const listener of socket.listeners('error')) {
    if (!before.has(listener)) socket.off('error', listener as (error: Error) => void)
  }
  socket.on('error', ignore)
  return session
}

/** 'close' follows every error. */
function ignore(): void {}
