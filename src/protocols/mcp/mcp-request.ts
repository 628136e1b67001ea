import type { Exchange } from '#exchange/exchange.ts'
import type { ServeServices } from '../backend-protocol.ts'
import type { McpPlan, McpTargetPlan } from './config/mcp-plan.ts'
import type { McpMemory } from './session/mcp-memory.ts'
import type { Session } from './session/session-state.ts'
import type { TargetSession } from './session/target-session.ts'

/** Dependencies of the MCP code. */
export interface McpDeps extends Omit<ServeServices, 'worker'> {
  readonly memory: McpMemory
}

/** One HTTP request of a client while it is served. */
export interface McpRequest {
  readonly plan: McpPlan
  readonly exchange: Exchange
  readonly deps: McpDeps
}

/** A target with the result of its initialisation in the session; undefined before that. */
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
