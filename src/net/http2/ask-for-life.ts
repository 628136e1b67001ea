import type { Http2Session } from 'node:http2'

/**
 * Asks the peer for a sign of life; `answered` is called when one comes. Behind a GOAWAY Node sends no PING, but SETTINGS are
 * acknowledged, too. It is needed there most: of a peer that breaks the protocol then, or leaves, Node tells nothing.
 */
export function askForLife(session: Http2Session, answered: () => void): void {
  const done = (error: Error | null) => {
    if (error === null) answered()
  }
  if (session.closed) session.settings({}, done)
  else session.ping(done)
}
