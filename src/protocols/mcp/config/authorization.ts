import { REJECTIONS, type RejectionCode } from '#base/rejections.ts'
import type { Exchange } from '#exchange/exchange.ts'
import type { Expression } from '#exchange/expression.ts'
import { type McpFacts, NO_MCP } from '#exchange/mcp-facts.ts'

export type ItemKind = 'tool' | 'prompt' | 'resource' | 'task'

/** `backend.mcp.authorization` of all levels combined (decision B71). */
export interface McpAuthorization {
  /** One of the rules does not compile: every item is hidden and refused. */
  readonly broken: boolean
  readonly deny: readonly Expression[]
  readonly require: readonly Expression[]
  readonly allow: readonly Expression[]
}

export function hasRules({ broken, deny, require, allow }: McpAuthorization): boolean {
  return broken || deny.length + require.length + allow.length > 0
}

/**
 * Whether the request may use the item that `exchange.mcp` names (specification 2, 2.2.2 and 2.3). An evaluation that exceeds a limit has
 * no result: nothing is allowed then (decision A-137).
 */
export function isAllowed({ broken, deny, require, allow }: McpAuthorization, exchange: Exchange): boolean {
  if (broken) return false
  if (deny.some((rule) => rule.isTrue(exchange))) return false
  if (!require.every((rule) => rule.isTrue(exchange))) return false
  const allowed = allow.length === 0 || allow.some((rule) => rule.isTrue(exchange))
  return allowed && exchange.exceeded === undefined
}

/** Why an item was not allowed, for log and decision record. */
export function denialOf(exchange: Exchange): { readonly code: RejectionCode; readonly detail: string } {
  const { exceeded } = exchange
  return exceeded === undefined
    ? { code: 'authorization-denied', detail: 'by backend.mcp.authorization' }
    : { code: 'authorization-exceeded', detail: exceeded }
}

/** Filters the items of a list of one target. Restores `exchange.mcp` afterwards. */
export function filterItems<Item>(
  authorization: McpAuthorization,
  exchange: Exchange,
  { items, kind, target, nameOf }: ItemsOfTarget<Item>,
): Item[] {
  const facts = exchange.mcp
  const probe: McpFacts = {
    ...NO_MCP,
    method: facts?.method,
    sessionId: facts?.sessionId,
    target,
    resourceType: kind,
  }
  exchange.mcp = probe
  try {
    const allowed = items.filter((item) => {
      probe.name = nameOf(item)
      return isAllowed(authorization, exchange)
    })
    if (exchange.exceeded !== undefined) noteExceeded(exchange)
    return allowed
  } finally {
    exchange.mcp = facts
  }
}

/** The list is sent without the items that could not be evaluated; log and decision record have the reason. */
function noteExceeded(exchange: Exchange): void {
  const { code, detail } = denialOf(exchange)
  exchange.refusal = code
  exchange.refusalDetail = detail
  exchange.reason = REJECTIONS[code].reason
}

export interface ItemsOfTarget<Item> {
  readonly items: readonly Item[]
  readonly kind: ItemKind
  readonly target: string
  /** The name that the target uses. */
  readonly nameOf: (item: Item) => string
}
