import type { SharedTable } from '#state/shared-table.ts'
import type { McpTargetPlan, ToolPinning } from '../config/mcp-plan.ts'

/**
 * The digests that each tool of a target has had since the gateway was started, in the table that all workers share: the first one, then the
 * others in the order of their last appearance.
 */

/** The first one and the latest of the others are kept. */
const MAX_DIGESTS = 8
const DIGEST_LENGTH = 32
/** Tools of a target, since the gateway was started. Further ones are not noted: the table would drop the first digests of others for them. */
const MAX_NOTED = 10_000

/** Each target has its own scope, so that none can displace the digests of another one. */
const scopeOf = ({ destination }: McpTargetPlan) => `mcp-tools ${destination}`

/**
 * Notes the present digest of a tool.
 * @returns `changed` if the tool has not had this digest before; `unnoted`: the target has had too many tools
 */
export function notePin(
  table: SharedTable,
  target: McpTargetPlan,
  { name, digest }: { readonly name: string; readonly digest: string },
): 'new' | 'changed' | 'known' | 'unnoted' {
  const scope = scopeOf(target)
  const kept = table.get(scope, name)
  if (kept === undefined) {
    if (table.count(scope) >= MAX_NOTED) return 'unnoted'
    table.set(scope, name, digest)
    return 'new'
  }
  if (kept.endsWith(digest)) return 'known'
  const [first = '', ...others] = kept.split(' ')
  const isKnown = first === digest || others.includes(digest)
  const latest = others.filter((other) => other !== digest).slice(2 - MAX_DIGESTS)
  table.set(scope, name, [first, ...latest, digest].join(' '))
  return isKnown ? 'known' : 'changed'
}

/** The latest digest of a tool that has had several; undefined: it has not changed. */
export function changedDigest(table: SharedTable, target: McpTargetPlan, name: string): string | undefined {
  const kept = table.get(scopeOf(target), name)
  return kept === undefined || kept.length === DIGEST_LENGTH ? undefined : kept.slice(-DIGEST_LENGTH)
}

/** The digest that any worker has seen last. */
export function latestDigest(table: SharedTable, target: McpTargetPlan, name: string): string | undefined {
  return table.get(scopeOf(target), name)?.slice(-DIGEST_LENGTH)
}

/** Whether a tool with this digest may be used: it is one of those that the operator has accepted or, if there are none, it has not changed. */
export function isPinned(
  table: SharedTable,
  target: McpTargetPlan,
  { accepted }: ToolPinning,
  { name, digest }: { readonly name: string; readonly digest: string },
): boolean {
  if (accepted !== undefined) return accepted.has(digest)
  return table.get(scopeOf(target), name)?.startsWith(digest) === true
}
