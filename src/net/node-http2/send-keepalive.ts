import type { Http2Session } from 'node:http2'

/**
 * Checks that the peer is alive; `answered` is called when it responds. After a GOAWAY, Node sends no PING, so SETTINGS are sent, which
 * must be acknowledged too. The check is most important then, because Node reports neither protocol errors nor the end of the peer.
 */
export function sendKeepalive(session: Http2Session, answered: () => void): void {
  const done = (error: Error | null) => {
    if (error === null) answered()
  }
  if (session.closed) session.settings({}, done)
  else session.ping(done)
}
