import type { PlainTransports } from '../transport/plain-transports.ts'
import { probeDirect } from '../transport/probe-direct.ts'
import { STREAM_TRANSPORTS } from '../transport/stream-transports.ts'

/** Direct transports. The pinned version of Node supports them; on another version this fails with the reason. */
export const DIRECT_TRANSPORTS: PlainTransports = await probeDirect()

/** For tests of behaviour that both transports share. */
export const BOTH_TRANSPORTS: readonly PlainTransports[] = [DIRECT_TRANSPORTS, STREAM_TRANSPORTS]

/** The transports of the wire tests: direct, or streams in the Vitest project of that name (vitest.config.ts). */
export function wireTransports(): PlainTransports {
  return process.env.WIRE_TRANSPORTS === 'streams' ? STREAM_TRANSPORTS : DIRECT_TRANSPORTS
}
