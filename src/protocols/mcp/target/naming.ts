import type { McpPlan, McpTargetPlan } from '../config/mcp-plan.ts'

/** An item of a target, with the name that the target uses. */
export interface OwnedName {
  readonly target: McpTargetPlan
  readonly name: string
}

/** Name of a tool or prompt as clients see it: `<target>_<name>` when there are several targets (decision B62). */
export function publicName(plan: McpPlan, target: McpTargetPlan, name: string): string {
  return plan.multiplexes ? `${target.name}_${name}` : name
}

/** URI (template) of a resource as clients see it: `<target>+<uri>` when there are several targets. */
export function publicUri(plan: McpPlan, target: McpTargetPlan, uri: string): string {
  return plan.multiplexes ? `${target.name}+${uri}` : uri
}

/** Reverses `publicName`; undefined if the name belongs to no target. */
export function ownedName(plan: McpPlan, name: string): OwnedName | undefined {
  return findOwner(plan, name, '_')
}

/** Reverses `publicUri`. */
export function ownedUri(plan: McpPlan, uri: string): OwnedName | undefined {
  return findOwner(plan, uri, '+')
}

/** The longest matching target name wins, so that a target `a` cannot claim items of `a_b`. */
function findOwner(plan: McpPlan, text: string, separator: string): OwnedName | undefined {
  if (!plan.multiplexes) return { target: plan.targets[0]!, name: text }
  let owner: McpTargetPlan | undefined
  for (const target of plan.targets) {
    if (owner !== undefined && owner.name.length >= target.name.length) continue
    if (text.startsWith(`${target.name}${separator}`)) owner = target
  }
  return owner && { target: owner, name: text.slice(owner.name.length + separator.length) }
}
