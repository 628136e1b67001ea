import { PerWorker } from '../../backend-protocol.ts'
import type { TargetSession } from './target-session.ts'

/** What a worker remembers between requests. Everything works without it, only less exactly. */
export class McpMemory {
  /** Target names that are working on a request of a client. Without an entry a cancellation goes to all targets. */
  readonly inFlight = new Map<string, readonly string[]>()
  /** Targets that answer without a session, by destination. */
  readonly sessionless = new Map<string, SessionlessTarget>()
}

export const MCP_MEMORY = new PerWorker(() => new McpMemory())

/** What a target that gives out no session ids agreed to; it need not be asked again for a while (decision B66). */
export interface SessionlessTarget {
  readonly session: TargetSession
  readonly untilMs: number
}
