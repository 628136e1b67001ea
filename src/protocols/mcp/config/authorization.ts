import type { ObjectShape } from '#base/json-ambiguity.ts'
import { REJECTIONS, type RejectionCode } from '#base/rejections.ts'
import type { DecidedBy } from '#exchange/decided-by.ts'
import type { Exchange } from '#exchange/exchange.ts'
import type { Expression } from '#exchange/expression.ts'
import {
  type McpFacts,
  NO_MCP,
  type ToolAnnotations,
  UNKNOWN_ANNOTATIONS,
  UNKNOWN_ARGUMENTS,
} from '#exchange/mcp-facts.ts'
import { findTellingLine } from '#exchange/repeated-field.ts'
import { normalUri } from './normal-uri.ts'

export const ITEM_KINDS = ['tool', 'prompt', 'resource', 'task'] as const
export type ItemKind = (typeof ITEM_KINDS)[number]

/** `backend.mcp.authorization` of all levels combined (decision B71). */
export interface McpAuthorization {
  /** One of the rules does not compile: every item is hidden and refused. */
  readonly broken: boolean
  /** The policies that have rules, for decision records. */
  readonly decidedBy: DecidedBy
  readonly deny: readonly Expression[]
  readonly require: readonly Expression[]
  readonly allow: readonly Expression[]
  /** The Deny rules that also deny tools for which their evaluation fails (decision 0152). */
  readonly denyFailed: ReadonlySet<Expression>
  /** Shape of the arguments of tools, for rules that read them: no member may have two meanings. Undefined: no rule reads them. */
  readonly argumentShape: ObjectShape | undefined
  /** A rule reads the annotations of tools. */
  readonly readsAnnotations: boolean
}

export function hasRules({ broken, deny, require, allow }: McpAuthorization): boolean {
  return broken || deny.length + require.length + allow.length > 0
}

/**
 * Whether the request may use the item that `exchange.mcp` names (specification 2, 2.2.2 and 2.3). An evaluation that exceeds a limit has
 * no result: nothing is allowed then (decision A-137).
 */
export function isAllowed(authorization: McpAuthorization, exchange: Exchange): boolean {
  return judge(authorization, exchange, false)
}

/**
 * A resource must be allowed under its URI as written and in normal form (decision B71): the target may read either.
 * @param isListed a rule whose result depends on the arguments of a call does not hide the tool; unknown values deny otherwise
 */
function judge(authorization: McpAuthorization, exchange: Exchange, isListed: boolean): boolean {
  if (!hasRules(authorization)) return true
  const asNamed = () => judgeAsNamed(authorization, exchange, isListed)
  return asNamed() && (inNormalForm(exchange, asNamed) ?? true)
}

/** Evaluates with the URI of a resource in normal form; undefined: it is in normal form already, or there is none. */
function inNormalForm<Result>({ mcp }: Exchange, evaluate: () => Result): Result | undefined {
  if (mcp?.resourceType !== 'resource' || mcp.name === undefined) return undefined
  const written = mcp.name
  const normal = normalUri(written)
  if (normal === written) return undefined
  mcp.name = normal
  try {
    return evaluate()
  } finally {
    mcp.name = written
  }
}

function judgeAsNamed(authorization: McpAuthorization, exchange: Exchange, isListed: boolean): boolean {
  const { broken, deny, require, allow } = authorization
  const holds = (rule: Expression) => {
    const verdict = rule.verdict(exchange)
    return verdict === true || (verdict === 'unknown' && isListed)
  }
  if (broken || findRepeated(authorization, exchange) !== undefined) return false
  if (deny.some((rule) => denies(authorization, rule, exchange, isListed))) return false
  if (!require.every(holds)) return false
  return (allow.length === 0 || allow.some(holds)) && exchange.exceeded === undefined
}

/** The first rule that a header in several lines gives different results, with the header. */
function findRepeated({ deny, require, allow }: McpAuthorization, exchange: Exchange): string | undefined {
  for (const rule of [...deny, ...require, ...allow]) {
    const name = findTellingLine(rule, exchange)
    if (name !== undefined) return `${rule.where} compares ${name}, which came in several lines with different results`
  }
  return undefined
}

function denies({ denyFailed }: McpAuthorization, rule: Expression, exchange: Exchange, isListed: boolean): boolean {
  const verdict = rule.verdict(exchange)
  if (verdict === 'unknown') return !isListed
  return verdict ?? (denyFailed.has(rule) && exchange.mcp!.resourceType === 'tool')
}

/** Why an item was not allowed, for log and decision record. */
export function denialOf(
  authorization: McpAuthorization,
  exchange: Exchange,
): { readonly code: RejectionCode; readonly detail: string; readonly decidedBy: DecidedBy } {
  const { exceeded } = exchange
  const { decidedBy } = authorization
  if (exceeded !== undefined) return { code: 'authorization-exceeded', detail: exceeded, decidedBy }
  const describe = () => describeDenial(authorization, exchange)
  const detail = judgeAsNamed(authorization, exchange, false)
    ? inNormalForm(exchange, () => `in normal form, the URI is ${JSON.stringify(exchange.mcp!.name)}: ${describe()}`)
    : describe()
  return { code: 'authorization-denied', detail: detail ?? describe(), decidedBy }
}

/** The rule, and why its evaluation failed, if it did; of Allow rules, one that reads something unknown may have been meant. */
function describeDenial(authorization: McpAuthorization, exchange: Exchange): string {
  const { broken, deny, require, allow } = authorization
  if (broken) return 'a rule of backend.mcp.authorization does not compile'
  const describe = (what: string, rule: Expression | undefined) => {
    const why = rule?.whyFailed(exchange)
    return why === undefined ? what : `${what} failed: ${why}`
  }
  const repeated = findRepeated(authorization, exchange)
  if (repeated !== undefined) return repeated
  const denying = deny.find((rule) => denies(authorization, rule, exchange, false))
  if (denying !== undefined) return describe(`Deny rule ${denying.where}`, denying)
  const missed = require.find((rule) => rule.verdict(exchange) !== true)
  if (missed !== undefined) return describe(`Require rule ${missed.where}`, missed)
  const unknown = allow.find((rule) => rule.verdict(exchange) === 'unknown')
  return unknown === undefined
    ? 'no Allow rule matched'
    : `no Allow rule matched; ${describe(`Allow rule ${unknown.where}`, unknown)}`
}

/** Filters the items of a list of one target. Restores `exchange.mcp` afterwards. */
export function filterItems<Item>(
  authorization: McpAuthorization,
  exchange: Exchange,
  { items, kind, target, nameOf, annotationsOf }: ItemsOfTarget<Item>,
): Item[] {
  const facts = exchange.mcp
  const probe: McpFacts = {
    ...NO_MCP,
    method: facts?.method,
    sessionId: facts?.sessionId,
    target,
    resourceType: kind,
    toolArguments: kind === 'tool' ? UNKNOWN_ARGUMENTS : undefined,
  }
  exchange.mcp = probe
  try {
    const allowed = items.filter((item) => {
      probe.name = nameOf(item)
      if (kind === 'tool') probe.toolAnnotations = annotationsOf?.(item) ?? UNKNOWN_ANNOTATIONS
      return judge(authorization, exchange, true)
    })
    if (exchange.exceeded !== undefined) noteExceeded(authorization, exchange)
    return allowed
  } finally {
    exchange.mcp = facts
  }
}

/** The list is sent without the items that could not be evaluated; log and decision record have the reason. */
function noteExceeded(authorization: McpAuthorization, exchange: Exchange): void {
  const { code, detail, decidedBy } = denialOf(authorization, exchange)
  exchange.decidedBy = decidedBy
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
  /** Of a tool; unset: no rule reads them. */
  readonly annotationsOf?: ((item: Item) => ToolAnnotations) | undefined
}
