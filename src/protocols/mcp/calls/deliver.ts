import type { JsonObject } from '#base/json.ts'
import type { ServedAnswer } from '../../backend-protocol.ts'
import { idKey, type NotificationMessage, type ResponseMessage } from '../message/json-rpc.ts'
import { ACCEPTED, refuse } from '../request/mcp-answer.ts'
import { type McpRequest, type SessionTarget, targetsOf } from '../request/mcp-request.ts'
import { expectStream } from '../session/opening-stream.ts'
import type { Session } from '../session/session-state.ts'
import { abandon } from '../target/abandon.ts'
import { type ClientReference, openReference, sessionMark, takeReference } from '../target/client-reference.ts'
import { ownTask } from '../target/related-task.ts'
import { LIMITS } from '../target/send-to-target.ts'
import { answerFailure, type FailedReply, hasFailed } from '../target/target-failure.ts'
import { callInSession } from './renew-target.ts'
import { cancelInFlight } from './track-in-flight.ts'

/** Sends a notification of the client to the targets that it concerns (decision B70). */
export async function deliverNotification(
  request: McpRequest,
  session: Session,
  message: NotificationMessage,
): Promise<ServedAnswer> {
  switch (message.method) {
    case 'notifications/cancelled':
      await cancelInFlight(request, session, message)
      return ACCEPTED
    case 'notifications/progress':
      return deliverProgress(request, session, message, targetsOf(request, session))
    case 'notifications/initialized': {
      const answer = await deliver(request, session, targetsOf(request, session), message.text)
      expectStream(session, request.deps.table)
      return answer
    }
    default:
      return deliver(request, session, targetsOf(request, session), message.text)
  }
}

/** Progress of a request that a target sent to the client; only that target knows the token. */
async function deliverProgress(
  request: McpRequest,
  session: Session,
  { params, json }: NotificationMessage,
  all: readonly SessionTarget[],
): Promise<ServedAnswer> {
  const reference = openReference(request.deps, session, 'progress', params?.progressToken)
  if (reference === undefined) return ACCEPTED
  const askers = askersOf(all, reference)
  const own = inWordsOf(request, askers, params ?? {})
  const text = JSON.stringify({ ...json, params: { ...own, progressToken: reference.original } })
  return deliver(request, session, askers, text)
}

/** Sends the client's response to the target of the request, with the id that the target chose (decision B85). */
export async function deliverResponse(
  request: McpRequest,
  session: Session,
  { id, json, result }: ResponseMessage,
): Promise<ServedAnswer> {
  // An error about a message that the client could not parse: the sender cannot be determined.
  if (id === undefined) return ACCEPTED
  const reference = takeReference(request.deps, session, id)
  if (reference === undefined) {
    return refuse(request.exchange, 'mcp-message-invalid', {
      detail: `no request is waiting for a response with id ${idKey(id)}`,
    })
  }
  const askers = askersOf(targetsOf(request, session), reference)
  const own = result && { result: inWordsOf(request, askers, result) }
  return deliver(request, session, askers, JSON.stringify({ ...json, id: reference.original, ...own }))
}

/** The target that asked. None if it has been initialised again since: it may use the id for another request now. */
function askersOf(targets: readonly SessionTarget[], { target, of }: ClientReference): readonly SessionTarget[] {
  return targets.filter(
    ({ plan, session }) => plan.name === target && (of === undefined || of === sessionMark(session)),
  )
}

/** What the client says, with the task that it names as the target knows it. */
function inWordsOf({ plan }: McpRequest, [asker]: readonly SessionTarget[], said: JsonObject): JsonObject {
  return asker === undefined ? said : ownTask(plan, asker.plan, said)
}

async function deliver(
  request: McpRequest,
  session: Session,
  targets: readonly SessionTarget[],
  message: string,
): Promise<ServedAnswer> {
  const calls = targets.map((target) =>
    callInSession(request, session, target, { method: 'POST', message, limits: LIMITS.notification }),
  )
  const failed: FailedReply[] = []
  for (const reply of await Promise.all(calls)) {
    if (hasFailed(reply)) failed.push(reply)
    else abandon(reply)
  }
  const first = failed[0]
  const passes = request.plan.failureMode === 'FailClosed' ? first : undefined
  abandon(...failed.filter((reply) => reply !== passes))
  return passes === undefined ? ACCEPTED : answerFailure(request.exchange, passes, undefined)
}
