import { PerWorker } from '../../backend-protocol.ts'
import type { TargetSession } from './target-session.ts'

/** State of a worker between requests. It only improves precision; everything works without it. */
export class McpMemory {
  /** Names of the targets that process a request of a client. Without an entry a cancellation goes to all targets. */
  readonly inFlight = new Map<string, readonly string[]>()
  /** Targets that respond without a session, by destination. */
  readonly sessionless = new Map<string, SessionlessTarget>()
}

export const MCP_MEMORY = new PerWorker(() => new McpMemory())

/** The result of initialising a target without session ids. It is reused for a while (decision B66). */
export interface SessionlessTarget {
  readonly session: TargetSession
  readonly untilMs: number
}
