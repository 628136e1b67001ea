import type { PlainTransports } from '../transport/plain-transports.ts'
import { probeDirect } from '../transport/probe-direct.ts'
import { STREAM_TRANSPORTS } from '../transport/stream-transports.ts'

/** The pinned Node takes them: fails, with the reason, on one that does not. */
export const DIRECT_TRANSPORTS: PlainTransports = await probeDirect()

/** For tests of what both must do. */
export const BOTH_TRANSPORTS: readonly PlainTransports[] = [DIRECT_TRANSPORTS, STREAM_TRANSPORTS]

/** What the wire tests read and write with: direct ones, and streams in the project of that name (vitest.config.ts). */
export function wireTransports(): PlainTransports {
  return process.env.WIRE_TRANSPORTS === 'streams' ? STREAM_TRANSPORTS : DIRECT_TRANSPORTS
}
