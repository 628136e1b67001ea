import { clock } from '#base/clock.ts'
import type { ServedAnswer } from '../../backend-protocol.ts'
import { answerItem, prepareItem } from '../answer/answer-item.ts'
import { answerList } from '../answer/answer-list.ts'
import { ACCEPTED, answerError, answerMessages, answerStream, refuse } from '../answer/mcp-answer.ts'
import type { McpTargetPlan } from '../config/mcp-plan.ts'
import { GATEWAY_INFO } from '../gateway-info.ts'
import { type McpRequest, type SessionTarget, targetsOf } from '../mcp-request.ts'
import { METHOD_NOT_FOUND, type Message, type RequestMessage, resultText } from '../message/json-rpc.ts'
import { methodRoute, needsSession } from '../message/methods.ts'
import { callTarget, discard, discardBody } from '../target/call-target.ts'
import { prepareClose } from './close-targets.ts'
import { initialiseTargets } from './initialise-targets.ts'
import { LATEST_REVISION } from './protocol-version.ts'
import type { Session } from './session-state.ts'
import type { TargetSession } from './target-session.ts'

/** How long the gateway assumes that a target without a session id needs none. */
const SESSIONLESS_MS = 5 * 60 * 1000

/**
 * Serves a message with `sessionRouting: Stateless` (decision B66). The required targets are initialised for this message only, and their
 * sessions are closed when the response is complete. The gateway declares no client capabilities to targets, so they cannot send requests.
 */
export async function serveWithoutSession(request: McpRequest, message: Message): Promise<ServedAnswer> {
  // A notification for a session that does not exist.
  if (message.kind === 'notification') return ACCEPTED
  if (message.kind === 'response') {
    return refuse(request.exchange, 'mcp-message-invalid', {
      detail: 'without a session, no request of a target can be answered',
    })
  }
  const route = needsSession(message.method) ? undefined : methodRoute(message.method)
  switch (route?.kind) {
    case 'ping':
      return answerMessages([resultText(message.id, {})])
    case 'list':
      return withTargets(request, message, request.plan.targets, (session) =>
        answerList(request, session, message, route.list),
      )
    case 'item': {
      const item = prepareItem(request, message, route.parameter)
      if ('status' in item) return item
      return withTargets(request, message, [item.target], (session) => answerItem(request, session, message, item))
    }
    default:
      return answerError(request.exchange, message.id, METHOD_NOT_FOUND, 'Method not found')
  }
}

async function withTargets(
  request: McpRequest,
  message: RequestMessage,
  targets: readonly McpTargetPlan[],
  serve: (session: Session) => Promise<ServedAnswer>,
): Promise<ServedAnswer> {
  const { plan, deps } = request
  const nowMs = clock.now()
  const known = targets.flatMap((target) => recall(request, target, nowMs) ?? [])
  const fresh = targets.filter(({ name }) => !known.some(({ target }) => target === name))
  const reply = fresh.length === 0 ? [] : await begin(request, message, fresh)
  if ('status' in reply && (known.length === 0 || plan.failureMode === 'FailClosed')) return reply
  const begun = 'status' in reply ? withdraw(request, reply) : reply

  // Only cursors contain a part of it, and they must be valid in later requests.
  const session: Session = { id: '', key: '', createdMs: nowMs, targets: [...known, ...begun] }
  const close = prepareClose(request, targetsOf(plan, { ...session, targets: begun }))
  const answer = await serve(session)
  if (answer.status !== 200) for (const { destination } of targets) deps.memory.sessionless.delete(destination)
  return afterBody(answer, () => void close())
}

/** A failure of one target that does not fail the request: other targets still serve (FailOpen). */
function withdraw({ exchange }: McpRequest, { body }: ServedAnswer): readonly TargetSession[] {
  exchange.refusal = undefined
  exchange.refusalDetail = undefined
  exchange.reason = 'Upstream'
  if (body !== undefined && !(body instanceof Uint8Array)) discardBody(body)
  return []
}

function recall({ deps }: McpRequest, { destination }: McpTargetPlan, nowMs: number): TargetSession | undefined {
  const remembered = deps.memory.sessionless.get(destination)
  return remembered !== undefined && remembered.untilMs > nowMs ? remembered.session : undefined
}

/** Initialises targets in the name of the gateway, with the id of the client's request. */
async function begin(
  request: McpRequest,
  { id }: RequestMessage,
  targets: readonly McpTargetPlan[],
): Promise<readonly TargetSession[] | ServedAnswer> {
  const protocolVersion = request.exchange.request.joined('mcp-protocol-version') ?? LATEST_REVISION
  const params = { protocolVersion, capabilities: {}, clientInfo: GATEWAY_INFO }
  const text = JSON.stringify({ jsonrpc: '2.0', id, method: 'initialize', params })
  const reply = await initialiseTargets(request, { id, text, targets, sessionKey: '' })
  if (reply.kind === 'failed') return reply.answer

  const session: Session = { id: '', key: '', createdMs: 0, targets: reply.sessions }
  await Promise.all(targetsOf(request.plan, session).map((target) => complete(request, target)))
  return reply.sessions
}

/** A target that refuses the notification will refuse the following request, too. */
async function complete(request: McpRequest, { plan, session }: SessionTarget): Promise<void> {
  if (session?.sessionId === undefined) {
    const remembered = { session: session!, untilMs: clock.now() + SESSIONLESS_MS }
    request.deps.memory.sessionless.set(plan.destination, remembered)
    return
  }
  const message = JSON.stringify({ jsonrpc: '2.0', method: 'notifications/initialized' })
  const reply = await callTarget(request, { target: plan, session, method: 'POST', message })
  if (reply.kind === 'messages') reply.abort()
  if (reply.kind === 'refused') discard(reply.response)
}

/** Calls `done` once, when the body was delivered or abandoned. */
function afterBody(answer: ServedAnswer, done: () => void): ServedAnswer {
  const { body } = answer
  if (body === undefined || body instanceof Uint8Array) {
    done()
    return answer
  }
  const pieces = (async function* () {
    try {
      yield* body
    } finally {
      done()
    }
  })()
  const release = () => {
    done()
    body[Symbol.asyncIterator]()
      .return?.()
      .catch(() => {})
  }
  return { ...answerStream(pieces, release), status: answer.status, headers: answer.headers }
}
