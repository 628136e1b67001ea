import type { McpRequest } from '../mcp-request.ts'
import { INTERNAL_ERROR } from '../message/json-rpc.ts'
import type { ListRoute } from '../message/methods.ts'
import type { TargetOutcome } from '../target/fan-out.ts'
import { brokenStreamText, noteFailure } from '../target/target-failure.ts'
import { TargetStreamError } from '../target/target-stream-error.ts'

/** Items of a target on one page. */
const MAX_ITEMS = 10_000
/** Of the position in its list that a target sends, in characters. */
const MAX_CURSOR_LENGTH = 4096
/** Of a list of several targets: one of them could keep the clients of all others reading. */
const MAX_PAGES = 1000

/** A target whose page exceeds a bound has failed. @param number of the page */
export function checkPage(
  request: McpRequest,
  outcome: TargetOutcome,
  member: ListRoute['member'],
  number: number,
): TargetOutcome {
  const { open, result } = outcome
  const limit = result && exceededBound(request, result[member], result.nextCursor, number)
  if (limit === undefined) return outcome
  const error = new TargetStreamError(`target ${open.target.plan.name} sent too long a list`, limit)
  noteFailure(request.exchange, error)
  return { open, result: undefined, error: { code: INTERNAL_ERROR, message: brokenStreamText(error) } }
}

function exceededBound({ plan }: McpRequest, items: unknown, cursor: unknown, number: number): string | undefined {
  if (Array.isArray(items) && items.length > MAX_ITEMS) return `the limit is ${MAX_ITEMS} items on a page`
  if (typeof cursor !== 'string') return undefined
  if (cursor.length > MAX_CURSOR_LENGTH) return `the limit is a cursor of ${MAX_CURSOR_LENGTH} characters`
  return plan.multiplexes && number >= MAX_PAGES ? `the limit is ${MAX_PAGES} pages` : undefined
}
