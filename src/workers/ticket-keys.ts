import { randomBytes } from 'node:crypto'

/** One key each to name, encrypt and authenticate TLS session tickets (RFC 5077, 4). */
const TICKET_KEY_BYTES = 48

/**
 * How long tickets are made with one set of keys. Who gets hold of them can read resumed sessions of TLS 1.2 of that time
 * (RFC 9325, 3.4 and 7.4).
 */
export const TICKET_KEYS_LIVE_MS = 43_200_000

/** Keys for session tickets. All workers of an instance have the same, so each resumes what another began; nobody else has them. */
export function makeTicketKeys(): Uint8Array {
  return randomBytes(TICKET_KEY_BYTES)
}
