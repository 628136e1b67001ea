import type { McpPlan, McpTargetPlan } from '../config/mcp-plan.ts'

/** The form of public names: with prefixes, or the own names of the only target. */
export type Naming = Pick<McpPlan, 'targets' | 'multiplexes'>

/** An item of a target, with the name that the target uses. */
export interface OwnedName {
  readonly target: McpTargetPlan
  readonly name: string
}

/** Name of a tool or prompt as clients see it: `<target>_<name>` when there are several targets (decision B62). */
export function publicName(naming: Naming, target: McpTargetPlan, name: string): string {
  return naming.multiplexes ? `${target.name}_${name}` : name
}

/**
 * URI (template) of a resource as clients see it: `<target>+<uri>` when there are several targets. The user interfaces of tools keep their
 * scheme, by which hosts know them: `ui://<target>+<rest>` (MCP Apps).
 */
export function publicUri(naming: Naming, target: McpTargetPlan, uri: string): string {
  if (!naming.multiplexes) return uri
  return uri.startsWith(UI) ? `${UI}${target.name}+${uri.slice(UI.length)}` : `${target.name}+${uri}`
}

const UI = 'ui://'

/** Reverses `publicName`; undefined if the name belongs to no target. */
export function ownedName(naming: Naming, name: string): OwnedName | undefined {
  return findOwner(naming, name, '_')
}

/** Reverses `publicUri`. */
export function ownedUri(naming: Naming, uri: string): OwnedName | undefined {
  if (!naming.multiplexes || !uri.startsWith(UI)) return findOwner(naming, uri, '+')
  const owned = findOwner(naming, uri.slice(UI.length), '+')
  return owned && { target: owned.target, name: `${UI}${owned.name}` }
}

/** The longest matching target name wins, so that a target `a` cannot claim items of `a_b`. */
function findOwner(naming: Naming, text: string, separator: string): OwnedName | undefined {
  if (!naming.multiplexes) return { target: naming.targets[0]!, name: text }
  let owner: McpTargetPlan | undefined
  for (const target of naming.targets) {
    if (owner !== undefined && owner.name.length >= target.name.length) continue
    if (text.startsWith(`${target.name}${separator}`)) owner = target
  }
  return owner && { target: owner, name: text.slice(owner.name.length + separator.length) }
}
