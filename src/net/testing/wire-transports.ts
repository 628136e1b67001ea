import type { PlainTransports } from '../transport/plain-transports.ts'
import { probeDirect } from '../transport/probe-direct.ts'
import { STREAM_TRANSPORTS } from '../transport/stream-transports.ts'

/** The pinned Node takes them: fails, with the reason, on one that does not. */
export const DIRECT_TRANSPORTS: PlainTransports = await probeDirect()

/** For tests of what both must do. */
export const BOTH_TRANSPORTS: readonly PlainTransports[] = [DIRECT_TRANSPORTS, STREAM_TRANSPORTS]

let chosen = DIRECT_TRANSPORTS

/** What the rigs of the wire tests read and write with. */
export function wireTransports(): PlainTransports {
  return chosen
}

/** Has the rigs of a test file use others. */
export function useTransports(transports: PlainTransports): void {
  chosen = transports
}
