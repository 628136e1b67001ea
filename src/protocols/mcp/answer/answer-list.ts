import { isCaseVariant } from '#base/fold-case.ts'
import type { Json, JsonObject } from '#base/json.ts'
import type { ServedAnswer } from '../../backend-protocol.ts'
import {
  abandonAll,
  decisiveError,
  fanOut,
  gather,
  type OpenTarget,
  passedError,
  type TargetOutcome,
} from '../calls/fan-out.ts'
import { pinningFault } from '../calls/learn-tool.ts'
import { noteTools } from '../calls/note-tools.ts'
import { publicInterface } from '../calls/public-result.ts'
import { presentTargets } from '../calls/renew-target.ts'
import { trackFanOut } from '../calls/track-in-flight.ts'
import { filterItems, hasRules } from '../config/authorization.ts'
import { publicName, publicUri } from '../config/naming.ts'
import {
  INTERNAL_ERROR,
  INVALID_PARAMS,
  isObject,
  METHOD_NOT_FOUND,
  type RequestMessage,
  type ResponseError,
  resultText,
} from '../message/json-rpc.ts'
import { type CursorOwner, type ListPosition, openCursor, sealCursor } from '../message/list-cursor.ts'
import type { ListRoute } from '../message/methods.ts'
import { modernResult } from '../message/modern-result.ts'
import { headersOf } from '../message/request-headers.ts'
import { answerError, answerMessages, answerStream, CANCELLED, encodeEvent } from '../request/mcp-answer.ts'
import type { McpRequest, SessionTarget } from '../request/mcp-request.ts'
import { noteListed } from '../session/session-naming.ts'
import type { Session } from '../session/session-state.ts'
import { requestText } from '../target/request-text.ts'
import { LIMITS } from '../target/send-to-target.ts'
import { brokenStreamText, noteFailure } from '../target/target-failure.ts'
import { TargetStreamError } from '../target/target-stream-error.ts'
import { readAnnotations } from '../tools/tool-annotations.ts'

/**
 * Responds to a list request with the items of all targets that have the capability (decision B63), in the order of the targets, under
 * their public names and without items that authorization hides.
 */
export async function answerList(
  request: McpRequest,
  session: Session,
  message: RequestMessage,
  list: ListRoute,
): Promise<ServedAnswer> {
  const { plan, exchange, deps } = request
  const owner: CursorOwner = { backend: plan.backend, sessionKey: session.key, list: list.member }
  const present = await presentTargets(request, session)
  const offering = present.filter(({ session }) => session?.capabilities.has(list.capability))
  const empty = () => answerMessages([resultText(message.id, formList(request, message, { [list.member]: [] }))])
  if (offering.length === 0) return empty()

  const cursor = message.params?.cursor
  // A single target has cursors of its own, and gets those of the client as they are.
  const isFirst = !plan.multiplexes || cursor === undefined || cursor === null
  const position = isFirst ? BEGIN : typeof cursor === 'string' ? openCursor(deps.sealer, owner, cursor) : undefined
  if (position === undefined) return answerError(exchange, message.id, INVALID_PARAMS, 'Invalid cursor')
  const { cursors, pages } = position
  const targets =
    Object.keys(cursors).length === 0 ? offering : offering.filter(({ plan }) => Object.hasOwn(cursors, plan.name))
  if (targets.length === 0) return empty()

  const textFor = (target: SessionTarget) => {
    const { name } = target.plan
    const at = Object.hasOwn(cursors, name) ? cursors[name] : undefined
    const params = at === undefined ? message.params : { ...message.params, cursor: at }
    return requestText(request, session, target, message, params)
  }
  const inFlight = trackFanOut(request, session, message.id, targets)
  const { request: tracked, done } = inFlight
  const reply = await fanOut(tracked, session, {
    id: message.id,
    targets,
    textFor,
    limits: LIMITS.list,
    names: headersOf(message),
  })
  if (reply.kind === 'failed' || tracked.deps.signal.aborted) {
    done()
    abandonAll(reply.opened)
    return reply.kind === 'failed' && !tracked.deps.signal.aborted ? reply.answer : CANCELLED
  }
  // The signal ends it.
  inFlight.endResponse = () => {}
  const page: Page = { message, list, owner, opened: reply.opened, number: pages + 1, done }
  return answerStream(mergePages(tracked, session, page), () => {
    done()
    abandonAll(reply.opened)
  })
}

function formList({ era }: McpRequest, { method }: RequestMessage, result: JsonObject): JsonObject {
  return era === 'modern' ? modernResult(method, result) : result
}

interface Page {
  readonly message: RequestMessage
  readonly list: ListRoute
  readonly owner: CursorOwner
  readonly opened: readonly OpenTarget[]
  /** The first one is 1. */
  readonly number: number
  /** Call it when the request is over. */
  readonly done: () => void
}

const BEGIN: ListPosition = { cursors: {}, pages: 0 }

async function* mergePages(request: McpRequest, session: Session, page: Page): AsyncGenerator<Uint8Array> {
  const { message, list, opened, done } = page
  const forgive = ({ code }: ResponseError) => (code === METHOD_NOT_FOUND ? { [list.member]: [] } : undefined)
  let gathered: TargetOutcome[]
  try {
    gathered = yield* gather(request, session, { id: message.id, opened, forgive })
  } finally {
    done()
  }
  const outcomes = gathered.map((outcome) => checkPage(request, outcome, list.member, page.number))
  if (request.deps.signal.aborted) return
  const error = decisiveError(request, outcomes)
  if (error !== undefined) yield encodeEvent(passedError(request, message.id, error))
  else {
    noteListed(request.plan, session, list.itemKind, request.deps.table)
    yield encodeEvent(resultText(message.id, formList(request, message, mergeResults(request, page, outcomes))))
  }
}

/** With a single target, the rest of its result is unchanged. */
function mergeResults(
  request: McpRequest,
  { list, owner, number }: Page,
  outcomes: readonly TargetOutcome[],
): JsonObject {
  const items: Json[] = []
  const cursors: Record<string, string> = {}
  for (const { open, result } of outcomes) {
    if (result === undefined) continue
    items.push(...visibleItems(request, open.target, list, result[list.member]))
    const { nextCursor } = result
    if (typeof nextCursor === 'string') cursors[open.target.plan.name] = nextCursor
  }
  if (!request.plan.multiplexes)
    return { ...withoutVariants(outcomes[0]?.result ?? {}, list.member), [list.member]: items }
  const nextCursor = sealCursor(request.deps.sealer, owner, { cursors, pages: number })
  return { [list.member]: items, ...(nextCursor !== undefined && { nextCursor }) }
}

/** A client that ignores letter case could read another list than the one that was authorized (decision B71). */
function withoutVariants(result: JsonObject, member: string): JsonObject {
  return Object.fromEntries(Object.entries(result).filter(([key]) => !isCaseVariant(key, member)))
}

/** Whether an item has exactly one name: without a name it cannot be used, and of two names only one was authorized. */
function isNamed(item: Json, nameMember: string): item is JsonObject {
  if (!isObject(item) || typeof item[nameMember] !== 'string') return false
  return !Object.keys(item).some((key) => isCaseVariant(key, nameMember))
}

/** The items of one target that the client may use, under their public names. */
function visibleItems(
  request: McpRequest,
  target: SessionTarget,
  { nameMember, itemKind }: ListRoute,
  value: Json | undefined,
): JsonObject[] {
  if (!Array.isArray(value)) return []
  const { plan, exchange } = request
  const nameOf = (item: JsonObject) => item[nameMember] as string
  let named = value.filter((item) => isNamed(item, nameMember))
  if (itemKind === 'tool') {
    noteTools(request, target.plan, named)
    const { pinning } = plan
    if (pinning !== undefined)
      named = named.filter((item) => pinningFault(pinning, request.deps, target.plan, nameOf(item)) === undefined)
  }
  const annotationsOf = plan.authorization.readsAnnotations ? readAnnotations : undefined
  const allowed = hasRules(plan.authorization)
    ? filterItems(plan.authorization, exchange, {
        items: named,
        kind: itemKind,
        target: target.plan.name,
        nameOf,
        annotationsOf,
      })
    : named
  if (!plan.multiplexes) return allowed
  const publish = nameMember === 'name' ? publicName : publicUri
  return allowed.map((item) => {
    const named = { ...item, [nameMember]: publish(plan, target.plan, nameOf(item)) }
    return itemKind === 'tool' ? publicInterface(plan, target.plan, named) : named
  })
}

/** Maximum number of items of a target on one page. */
const MAX_ITEMS = 10_000
/** Maximum length of the cursor of a target, in characters. */
const MAX_CURSOR_LENGTH = 4096
/** Maximum number of pages of a list of several targets: one target could keep clients reading forever. */
const MAX_PAGES = 1000

/** A target whose page exceeds a bound has failed. @param number of the page */
function checkPage(
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
