import type { SharedTable } from '#state/shared-table.ts'
import type { ItemKind } from '../config/authorization.ts'
import type { McpPlan } from '../config/mcp-plan.ts'
import type { Naming } from '../config/naming.ts'
import type { Session } from './session-state.ts'

/**
 * The form of the names that a client uses for items of a kind. When a backend gets a second target, or loses all but one, public names
 * change. A client keeps using the old ones until it has listed the items again (decision B62).
 */
export function namingOf(plan: McpPlan, session: Session, kind: ItemKind, table: SharedTable): Naming {
  const now = bareTargetOf(plan)
  const listed = table.get(SCOPE, keyOf(session, kind))
  const known = listed === undefined ? session.bareTarget : listed === '' ? undefined : listed
  if (known === now) return plan
  if (known === undefined) return { targets: plan.targets, multiplexes: true }
  const target = plan.targets.find(({ name }) => name === known)
  return target === undefined ? plan : { targets: [target], multiplexes: false }
}

/** Records that the client has got the names that are in force now. */
export function noteListed(plan: McpPlan, session: Session, kind: ItemKind, table: SharedTable): void {
  const now = bareTargetOf(plan)
  if (session.bareTarget === now && table.get(SCOPE, keyOf(session, kind)) === undefined) return
  table.set(SCOPE, keyOf(session, kind), now ?? '')
}

/** The only target, whose names have no prefix; undefined: names have prefixes. */
export function bareTargetOf({ multiplexes, targets }: McpPlan): string | undefined {
  return multiplexes ? undefined : targets[0]?.name
}

/** Scope of the shared table: the target whose names had no prefix when a session listed items of a kind; '' if names had prefixes. */
const SCOPE = 'mcp-naming'

function keyOf({ key }: Session, kind: ItemKind): string {
  return `${key} ${kind}`
}
