import { clock, pause } from '#base/clock.ts'
import type { McpTargetPlan } from '../config/mcp-plan.ts'
import { isAnswerTo } from '../message/json-rpc.ts'
import type { TargetReply } from '../message/target-reply.ts'
import { callTarget } from '../modern/call-target.ts'
import { type McpRequest, type SessionTarget, targetOf, targetsOf } from '../request/mcp-request.ts'
import { isEnded, isOver, noteRenewed, type Session } from '../session/session-state.ts'
import { announceChange } from '../session/session-stream.ts'
import { readTargetSession, type TargetSession } from '../session/target-session.ts'
import { abandon } from '../target/abandon.ts'
import { peek } from '../target/read-reply.ts'
import { LIMITS, type TargetCall } from '../target/send-to-target.ts'
import { within } from '../target/stream-timing.ts'
import { SESSION_DELETED } from '../target/target-failure.ts'
import { prepareClose } from '../transport/close-targets.ts'
import { notifyInitialized } from './notify-target.ts'
import { outlastClient } from './outlast-client.ts'
import { restoreSettings } from './restore-settings.ts'

/** How long a target that could not be initialised is left alone, unless it is the only one that can serve a request. */
const ABSENCE_MS = 10_000

/**
 * Calls a target within a session. If the target does not know the session (it was restarted, or its replica is gone), it has not
 * processed the request: it is initialised again, and called again.
 */
export async function callInSession(
  request: McpRequest,
  session: Session,
  { plan, session: before }: SessionTarget,
  call: Omit<TargetCall, 'target' | 'session'>,
): Promise<TargetReply> {
  const first = await callUnlessEnded(request, session, { ...call, target: plan, session: before, of: session })
  if (session.key === '' || before?.sessionId === undefined) return first
  if (first.kind !== 'failed' && first.kind !== 'refused') return first
  const { reply, isLost } = await judge(first)
  if (!isLost) return reply
  const renewed = await renewTarget(request, session, { plan, session: before })
  if (renewed === undefined) return reply
  abandon(reply)
  return callUnlessEnded(request, session, { ...call, target: plan, session: renewed, of: session })
}

/**
 * Nothing of a session reaches a target after its deletion was answered: then this worker knows of it, or the deletion has ended the calls that
 * had begun (`CallsInFlight`).
 */
function callUnlessEnded(request: McpRequest, session: Session, call: TargetCall): Promise<TargetReply> {
  const isDeleted = session.key !== '' && isEnded(session, request.deps.table)
  return isDeleted ? Promise.resolve(SESSION_DELETED) : callTarget(request, call)
}

type UnfitReply = Extract<TargetReply, { readonly kind: 'failed' | 'refused' }>

/** A server without the session responds with 404 (Streamable HTTP, "Session Management"), or with 400 and a text about the session. */
async function judge(reply: UnfitReply): Promise<{ readonly reply: TargetReply; readonly isLost: boolean }> {
  if (reply.kind === 'failed') return { reply, isLost: reply.unreached === true }
  if (reply.response.status !== 400) return { reply, isLost: reply.response.status === 404 }
  const { response, start } = await peek(reply.response)
  return { reply: { kind: 'refused', response }, isLost: /\bsession\b/i.test(start) }
}

/** The targets that take part in a session. Those that do not yet, because they were added or could not be initialised, are initialised now. */
export async function presentTargets(request: McpRequest, session: Session): Promise<readonly SessionTarget[]> {
  const present = targetsOf(request, session)
  const { targets } = request.plan
  if (session.key === '' || present.length === targets.length) return present
  const absent = targets.filter((target) => !present.some(({ plan }) => plan === target))
  await Promise.all(absent.map((target) => joinSession(request, session, target)))
  return targetsOf(request, session)
}

/** The same for one target; undefined if it does not take part, and could not be initialised. */
export function presentTarget(
  request: McpRequest,
  session: Session,
  plan: McpTargetPlan,
): SessionTarget | undefined | Promise<SessionTarget | undefined> {
  const present = targetOf(request, session, plan)
  if (present !== undefined || session.key === '') return present
  return joinSession(request, session, plan).then(() => targetOf(request, session, plan))
}

/** Initialises a target for a session in which it takes no part, unless that has just failed. */
async function joinSession(request: McpRequest, session: Session, plan: McpTargetPlan): Promise<void> {
  const { absentUntil } = request.deps.memory
  if ((absentUntil.get(plan.destination) ?? 0) > clock.monotonic()) return
  await renewTarget(request, session, { plan, session: undefined })
}

/** Initialises a target for a session that has begun. Concurrent requests of a session, at all workers, wait for the same initialisation. */
async function renewTarget(
  request: McpRequest,
  session: Session,
  target: SessionTarget,
): Promise<TargetSession | undefined> {
  const { renewals } = request.deps.memory
  const key = `${session.key} ${target.plan.name}`
  // Nobody would end the new one.
  if (isOver(session, request.deps.table, clock.now())) return undefined
  const now = renewedSince(request, session, target)
  if (now !== undefined) return now
  const running = renewals.get(key)
  if (running !== undefined) return running
  const renewal = renewAlone(request, session, target, `renewal ${key}`).finally(() => renewals.delete(key))
  renewals.set(key, renewal)
  return renewal
}

/** The session of a target that another request has renewed since this one began. */
function renewedSince(request: McpRequest, session: Session, target: SessionTarget): TargetSession | undefined {
  const now = targetOf(request, session, target.plan)?.session
  return now?.sessionId !== undefined && now.sessionId !== target.session?.sessionId ? now : undefined
}

/** How long a worker waits for another one that initialises the same target. A slow target may then get another session. */
const ALONE_MS = 2000

/** How often it looks. */
const STEP_MS = 5

async function renewAlone(
  request: McpRequest,
  session: Session,
  target: SessionTarget,
  hold: string,
): Promise<TargetSession | undefined> {
  const { table } = request.deps
  const untilMs = clock.monotonic() + ALONE_MS
  while (!table.takeHold(hold, ALONE_MS) && clock.monotonic() < untilMs) {
    await pause(STEP_MS)
  }
  try {
    return renewedSince(request, session, target) ?? (await initialise(request, session, target))
  } finally {
    table.hold(hold, 0)
  }
}

async function initialise(
  request: McpRequest,
  session: Session,
  { plan }: SessionTarget,
): Promise<TargetSession | undefined> {
  const { deps } = request
  const renewed = await outlastClient(request, (lasting) => initialiseAgain(lasting, session, plan))
  // The target may accept the credentials of other callers.
  if (renewed === 'refused') return undefined
  if (renewed === undefined) {
    deps.memory.absentUntil.set(plan.destination, clock.monotonic() + ABSENCE_MS)
    return undefined
  }
  deps.memory.absentUntil.delete(plan.destination)
  // The client has deleted its session meanwhile.
  if (isOver(session, deps.table, clock.now())) {
    await prepareClose(request, [{ plan, session: renewed }])()
    return undefined
  }
  noteRenewed(session, renewed, deps.table)
  await restoreSettings(request, session, { plan, session: renewed })
  // Wait until all workers know the new session.
  await within(announceChange(deps.channels, session.key, renewed.capabilities), TOLD_MS)
  return renewed
}

/** How long to wait for busy workers. */
const TOLD_MS = 1000

/** @returns `refused`: the credentials of the caller are not accepted */
async function initialiseAgain(
  request: McpRequest,
  { client }: Session,
  target: SessionTarget['plan'],
): Promise<TargetSession | 'refused' | undefined> {
  const message = JSON.stringify({ jsonrpc: '2.0', id: ID, method: 'initialize', params: client })
  const call = {
    target,
    session: undefined,
    method: 'POST',
    message,
    limits: LIMITS.initialize,
    isRepeatable: true,
  } as const
  const reply = await callTarget(request, call)
  const renewed = reply.kind === 'messages' ? await readInitialisation(target, reply).catch(() => undefined) : undefined
  abandon(reply)
  if (reply.kind === 'refused' && CALLER_REFUSED.has(reply.response.status)) return 'refused'
  if (renewed === undefined) return undefined
  const present = { plan: target, session: renewed }
  if (await notifyInitialized(request, present)) return renewed
  await prepareClose(request, [present])()
  return undefined
}

const ID = 0

const CALLER_REFUSED = new Set([401, 403])

/** Ignores messages before the response: they belong to a request that the client has not made. */
async function readInitialisation(
  target: SessionTarget['plan'],
  { messages, ...head }: Extract<TargetReply, { kind: 'messages' }>,
): Promise<TargetSession | undefined> {
  for await (const { message } of messages) {
    if (isAnswerTo(message, ID)) return readTargetSession(target, message.result, head)
  }
  return undefined
}
