import type { Call } from '#exchange/call.ts'
import type { Exchange } from '#exchange/exchange.ts'
import type { BodyClaim } from '#net/body/body-memory.ts'
import type { McpMemory } from './mcp-memory.ts'
import type { McpPlan, McpTargetPlan } from './mcp-plan.ts'
import type { Sealer } from './sealer.ts'
import type { Session } from './session-state.ts'
import type { TargetSession } from './target-session.ts'

/** What the gateway gives to MCP. */
export interface McpDeps {
  readonly call: Call
  readonly sealer: Sealer
  readonly memory: McpMemory
  /** Where answers of targets are gathered; given back when the request has ended. */
  readonly claim: BodyClaim
  /** Aborted when the client leaves. */
  readonly signal: AbortSignal
  /** How long an answer of a tool may be to be kept for the log, in characters; undefined: no expression reads such things. */
  readonly maxKept?: number | undefined
  /** The listener can be reached from this machine only: names that a browser may have been tricked into are refused. */
  readonly boundToLoopback?: boolean
}

/** One HTTP request of a client while it is answered. */
export interface McpRequest {
  readonly plan: McpPlan
  readonly exchange: Exchange
  readonly deps: McpDeps
}

/** A target together with what it agreed to in the session; undefined before it is initialised. */
export interface SessionTarget {
  readonly plan: McpTargetPlan
  readonly session: TargetSession | undefined
}

/** Targets of the plan that take part in the session, in the plan's order. */
export function targetsOf(plan: McpPlan, session: Session): SessionTarget[] {
  const found: SessionTarget[] = []
  for (const target of plan.targets) {
    const agreed = session.targets.find((entry) => entry.target === target.name)
    if (agreed !== undefined) found.push({ plan: target, session: agreed })
  }
  return found
}
