import { clock } from '#base/clock.ts'
import type { ServedAnswer } from '../../backend-protocol.ts'
import { afterBody } from '../answer/after-body.ts'
import { answerDiscover } from '../answer/answer-discover.ts'
import { answerItem, extensionItem, prepareItem } from '../answer/answer-item.ts'
import { answerList } from '../answer/answer-list.ts'
import { listen } from '../answer/listen.ts'
import { initialiseTargets } from '../calls/initialise-targets.ts'
import { learnTools, unknownToolOwner } from '../calls/learn-tool.ts'
import { notifyInitialized } from '../calls/notify-target.ts'
import { restoreSetting } from '../calls/restore-settings.ts'
import { cancelInFlight } from '../calls/track-in-flight.ts'
import { GATEWAY_INFO } from '../config/gateway-info.ts'
import type { McpTargetPlan } from '../config/mcp-plan.ts'
import {
  INVALID_PARAMS,
  isObject,
  METHOD_NOT_FOUND,
  type Message,
  type RequestMessage,
  resultText,
} from '../message/json-rpc.ts'
import { isForExtension, methodRoute, needsSession } from '../message/methods.ts'
import { isSessionRevision, LATEST_REVISION } from '../message/protocol-version.ts'
import { NOT_AWAITED } from '../modern/call-as-legacy.ts'
import { discoverTarget } from '../modern/discover-target.ts'
import { openInputState } from '../modern/input-state.ts'
import { envelopeOf } from '../modern/legacy-request.ts'
import { withoutTasks } from '../modern/without-tasks.ts'
import { ACCEPTED, answerError, answerMessages, refuse, refuseRequest } from '../request/mcp-answer.ts'
import { type McpRequest, type SessionTarget, targetsOf } from '../request/mcp-request.ts'
import type { Participant } from '../session/participant.ts'
import { NO_SESSION, type Session } from '../session/session-state.ts'
import type { TargetSession } from '../session/target-session.ts'
import { abandon } from '../target/abandon.ts'
import { discardBody } from '../target/read-reply.ts'
import { answerFailure, describeFailure, type FailedReply, noteTolerated } from '../target/target-failure.ts'
import { prepareClose } from '../transport/close-targets.ts'

/** How long the gateway remembers the era of a target, and that it needs no session. */
const REMEMBERED_MS = 5 * 60 * 1000

/**
 * Serves a message that belongs to no session: every message of a client of the modern era, and all with `sessionRouting: Stateless`
 * (decision B66). Targets that need a session get one for this message only. In it the gateway declares the capabilities of a client of the
 * modern era. Requests of targets to others could not be answered, so for them it declares none.
 */
export async function serveWithoutSession(request: McpRequest, message: Message): Promise<ServedAnswer> {
  if (message.kind === 'notification') {
    // Other notifications are for a session, which does not exist.
    if (message.method === 'notifications/cancelled') await cancelInFlight(request, NO_SESSION, message)
    return ACCEPTED
  }
  if (message.kind === 'response') {
    return refuse(request.exchange, 'mcp-message-invalid', {
      detail: 'without a session, no request of a target can be answered',
    })
  }
  const { plan, era, deps } = request
  deps.memory.activities.begin(request, NO_SESSION, '')
  const route = needsSession(message.method, era) ? undefined : methodRoute(message.method, era)
  switch (route?.kind) {
    case 'ping':
      return answerMessages([resultText(message.id, {})])
    case 'discover':
      return withTargets(request, message, { targets: plan.targets, areAsked: true }, (_, participants) =>
        answerDiscover(request, message, participants),
      )
    case 'listen':
      return withTargets(request, message, { targets: plan.targets }, (session) => listen(request, session, message))
    case 'list':
      return withTargets(request, message, { targets: plan.targets }, (session) =>
        answerList(request, session, message, route.list),
      )
    case 'item': {
      const owner = unknownToolOwner(request, plan, message, route.parameter)
      if (owner !== undefined) {
        return withTargets(request, message, { targets: [owner] }, async (session) => {
          await learnTools(request, session, owner, message)
          const item = prepareItem(request, plan, message, route.parameter)
          return 'status' in item ? item : answerItem(request, session, message, item)
        })
      }
      const item = prepareItem(request, plan, message, route.parameter)
      if ('status' in item) return item
      const state = openInputState(request, item.target, { method: message.method, params: item.params })
      if (state === 'invalid') return refuseState(request, message)
      // The session with the target has begun already.
      if (state !== undefined) {
        return answerItem(request, { ...NO_SESSION, targets: [state.session] }, message, item)
      }
      return withTargets(request, message, { targets: [item.target] }, (session) =>
        answerItem(request, session, message, item),
      )
    }
    default:
      if (isForExtension(plan, message.method)) {
        const item = extensionItem(plan, message)
        return withTargets(request, message, { targets: plan.targets }, (session) =>
          answerItem(request, session, message, item),
        )
      }
      return answerError(request.exchange, message.id, METHOD_NOT_FOUND, 'Method not found')
  }
}

function refuseState({ exchange }: McpRequest, { id }: RequestMessage): ServedAnswer {
  const rejection = {
    code: 'mcp-message-invalid',
    detail: 'requestState has expired, or is for another request',
  } as const
  return refuseRequest(exchange, rejection, { id, code: INVALID_PARAMS, message: NOT_AWAITED })
}

interface ServingTargets {
  readonly targets: readonly McpTargetPlan[]
  /** Every target must respond itself, even if its session is remembered. */
  readonly areAsked?: true
}

async function withTargets(
  request: McpRequest,
  message: RequestMessage,
  { targets, areAsked }: ServingTargets,
  serve: (session: Session, participants: readonly Participant[]) => Promise<ServedAnswer>,
): Promise<ServedAnswer> {
  const { plan } = request
  const nowMs = clock.now()
  const known = areAsked ? [] : targets.flatMap((target) => recall(request, target, nowMs) ?? [])
  const fresh = targets.filter(({ name }) => !known.some(({ session }) => session.target === name))
  const found = await discover(request, message, fresh)
  if ('status' in found) return found
  const { modern, legacy } = found
  const reply = legacy.length === 0 ? [] : await begin(request, message, legacy)
  const others = known.length + modern.length
  if ('status' in reply && (others === 0 || plan.failureMode === 'FailClosed')) return reply
  const begun = 'status' in reply ? withdraw(request, reply) : reply

  // Only cursors contain a part of it, and they must be valid in later requests.
  const participants = [...known, ...modern, ...begun]
  let outlast = false
  const keepTargets = () => {
    outlast = true
  }
  const session: Session = { ...NO_SESSION, targets: participants.map((one) => one.session), keepTargets }
  const ownSessions = { ...session, targets: begun.map((one) => one.session) }
  const close = prepareClose(request, targetsOf(request, ownSessions), message.id)
  const answer = await serve(session, participants)
  if (answer.status !== 200) for (const target of targets) forget(request, target)
  return afterBody(answer, () => outlast || void close(request.deps.signal.aborted))
}

/** Clients of the modern era speak it with all targets that do. With FailOpen a target that fails is left out if another one takes part. */
async function discover(
  request: McpRequest,
  { id, params }: RequestMessage,
  fresh: readonly McpTargetPlan[],
): Promise<ServedAnswer | { readonly modern: readonly Participant[]; readonly legacy: readonly McpTargetPlan[] }> {
  const { era, plan, exchange, deps } = request
  if (era === 'legacy') return { modern: [], legacy: fresh }
  const meta = isObject(params?._meta) ? params._meta : undefined
  const nowMs = clock.now()
  const modern: Participant[] = []
  const legacy: McpTargetPlan[] = []
  const failed: (readonly [target: McpTargetPlan, reply: FailedReply])[] = []
  const isLegacy = (target: McpTargetPlan) => (deps.memory.legacyUntil.get(target.destination) ?? 0) > nowMs
  await Promise.all(
    fresh.map(async (target) => {
      const found = isLegacy(target) ? 'legacy' : await discoverTarget(request, target, meta)
      if (found === 'legacy') {
        deps.memory.legacyUntil.set(target.destination, nowMs + REMEMBERED_MS)
        legacy.push(target)
      } else if ('kind' in found) failed.push([target, found])
      else {
        remember(request, target, found.session)
        modern.push(found)
      }
    }),
  )
  const inOrder = (one: { readonly name: string }, other: { readonly name: string }) =>
    plan.targets.findIndex(({ name }) => name === one.name) - plan.targets.findIndex(({ name }) => name === other.name)
  failed.sort(([one], [other]) => inOrder(one, other))
  const first = failed[0]
  if (first !== undefined && (plan.failureMode === 'FailClosed' || failed.length === plan.targets.length)) {
    abandon(...failed.slice(1).map(([, reply]) => reply))
    return answerFailure(exchange, first[1], id)
  }
  for (const [target, reply] of failed) {
    noteTolerated(exchange, describeFailure(reply, target.name))
    abandon(reply)
  }
  return { modern, legacy: legacy.sort(inOrder) }
}

/** A failure of one target that does not fail the request: other targets still serve (FailOpen). */
function withdraw({ exchange }: McpRequest, { body }: ServedAnswer): readonly Participant[] {
  exchange.refusal = undefined
  exchange.refusalDetail = undefined
  exchange.decidedBy = undefined
  exchange.reason = 'Upstream'
  if (body !== undefined && !(body instanceof Uint8Array)) discardBody(body)
  return []
}

function recall(request: McpRequest, target: McpTargetPlan, nowMs: number): Participant | undefined {
  const remembered = request.deps.memory.sessionless.get(keyOf(request, target))
  if (remembered === undefined || remembered.untilMs <= nowMs) return undefined
  return { session: remembered.session, result: undefined }
}

function remember(request: McpRequest, target: McpTargetPlan, session: TargetSession): void {
  request.deps.memory.sessionless.set(keyOf(request, target), { session, untilMs: clock.now() + REMEMBERED_MS })
}

function forget(request: McpRequest, target: McpTargetPlan): void {
  request.deps.memory.sessionless.delete(keyOf(request, target))
  request.deps.memory.legacyUntil.delete(target.destination)
}

/** Clients of both eras may use the same target, each in its own way. */
function keyOf({ era }: McpRequest, { destination }: McpTargetPlan): string {
  return `${era} ${destination}`
}

/** Initialises targets with the id of the client's request: in its name if it is of the modern era, else in that of the gateway. */
async function begin(
  request: McpRequest,
  message: RequestMessage,
  targets: readonly McpTargetPlan[],
): Promise<readonly Participant[] | ServedAnswer> {
  const { id } = message
  const named = request.exchange.request.joined('mcp-protocol-version')
  const protocolVersion = named !== undefined && isSessionRevision(named) ? named : LATEST_REVISION
  const client = request.era === 'modern' ? envelopeOf(message) : undefined
  const capabilities = client === undefined ? {} : withoutTasks(client.capabilities)
  const params = { protocolVersion, capabilities, clientInfo: client?.clientInfo ?? GATEWAY_INFO }
  const text = JSON.stringify({ jsonrpc: '2.0', id, method: 'initialize', params })
  const reply = await initialiseTargets(request, { id, text, targets, sessionKey: '' })
  if (reply.kind === 'failed') return reply.answer

  const session: Session = { ...NO_SESSION, targets: reply.sessions }
  await Promise.all(targetsOf(request, session).map((target) => complete(request, target, client?.logLevel)))
  return reply.sessions.map((one, index) => ({ session: one, result: reply.outcomes[index]!.result }))
}

/** A target that refuses the notification will refuse the following request, too. */
async function complete(
  request: McpRequest,
  { plan, session }: SessionTarget,
  level: string | undefined,
): Promise<void> {
  if (session?.sessionId === undefined) return remember(request, plan, session!)
  await notifyInitialized(request, { plan, session })
  if (level === undefined || !session.capabilities.has('logging')) return
  await restoreSetting(request, { plan, session }, { id: LEVEL_ID, method: 'logging/setLevel', params: { level } })
}

const LEVEL_ID = 'level'
