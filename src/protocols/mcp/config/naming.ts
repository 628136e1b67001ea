import type { McpPlan, McpTargetPlan } from './mcp-plan.ts'
import { NAME_SEPARATOR, type OwnedName, splitPrefix, URI_SEPARATOR } from './prefixed-name.ts'

/** The form of public names: with prefixes, or the own names of the only target. */
export type Naming = Pick<McpPlan, 'targets' | 'multiplexes'>

/** Name of a tool or prompt as clients see it: `<target>_<name>` when there are several targets (decision B62). */
export function publicName(naming: Naming, target: McpTargetPlan, name: string): string {
  return naming.multiplexes ? `${target.name}${NAME_SEPARATOR}${name}` : name
}

/**
 * URI (template) of a resource as clients see it: `<target>+<uri>` when there are several targets. The user interfaces of tools keep their
 * scheme, by which hosts know them: `ui://<target>+<rest>` (MCP Apps).
 */
export function publicUri(naming: Naming, target: McpTargetPlan, uri: string): string {
  if (!naming.multiplexes) return uri
  const prefix = `${target.name}${URI_SEPARATOR}`
  return uri.startsWith(UI) ? `${UI}${prefix}${uri.slice(UI.length)}` : `${prefix}${uri}`
}

const UI = 'ui://'

/** Reverses `publicName`; undefined if the name belongs to no target. */
export function ownedName(naming: Naming, name: string): OwnedName<McpTargetPlan> | undefined {
  return findOwner(naming, name, NAME_SEPARATOR)
}

/** Reverses `publicUri`. */
export function ownedUri(naming: Naming, uri: string): OwnedName<McpTargetPlan> | undefined {
  if (!naming.multiplexes || !uri.startsWith(UI)) return findOwner(naming, uri, URI_SEPARATOR)
  const owned = findOwner(naming, uri.slice(UI.length), URI_SEPARATOR)
  return owned && { target: owned.target, name: `${UI}${owned.name}` }
}

function findOwner(naming: Naming, text: string, separator: string): OwnedName<McpTargetPlan> | undefined {
  if (!naming.multiplexes) return { target: naming.targets[0]!, name: text }
  return splitPrefix(naming.targets, text, separator)
}
