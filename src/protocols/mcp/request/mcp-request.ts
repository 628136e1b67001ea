import type { Exchange } from '#exchange/exchange.ts'
import type { ServeServices } from '../../backend-protocol.ts'
import type { McpPlan, McpTargetPlan } from '../config/mcp-plan.ts'
import type { Era } from '../message/protocol-version.ts'
import { renewedTarget, type Session } from '../session/session-state.ts'
import type { TargetSession } from '../session/target-session.ts'
import type { McpMemory } from './mcp-memory.ts'

/** Dependencies of the MCP code. */
export interface McpDeps extends Omit<ServeServices, 'worker'> {
  readonly memory: McpMemory
}

/** One HTTP request of a client while it is served. */
export interface McpRequest {
  readonly plan: McpPlan
  readonly exchange: Exchange
  readonly deps: McpDeps
  /** Of the revision that the client speaks. */
  readonly era: Era
}

/** A target with the result of its initialisation in the session; undefined: it has not been initialised. */
export interface SessionTarget {
  readonly plan: McpTargetPlan
  readonly session: TargetSession | undefined
}

/** Targets of the plan that take part in the session, in the plan's order. */
export function targetsOf(request: McpRequest, session: Session): SessionTarget[] {
  return request.plan.targets.flatMap((plan) => targetOf(request, session, plan) ?? [])
}

/** A target of the plan; undefined if it takes no part in the session. */
export function targetOf({ deps }: McpRequest, session: Session, plan: McpTargetPlan): SessionTarget | undefined {
  const { name } = plan
  const present = renewedTarget(session, name, deps.table) ?? session.targets.find(({ target }) => target === name)
  return present && { plan, session: present }
}
