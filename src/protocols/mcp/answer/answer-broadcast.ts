import type { ServedAnswer } from '../../backend-protocol.ts'
import { abandonAll, decisiveError, fanOut, gather, type OpenTarget, passedError } from '../calls/fan-out.ts'
import { presentTargets } from '../calls/renew-target.ts'
import type { Capability } from '../message/capabilities.ts'
import { METHOD_NOT_FOUND, type RequestMessage, resultText } from '../message/json-rpc.ts'
import { answerError, answerStream, encodeEvent } from '../request/mcp-answer.ts'
import type { McpRequest } from '../request/mcp-request.ts'
import { noteSetting } from '../session/session-settings.ts'
import type { Session } from '../session/session-state.ts'
import { requestText } from '../target/request-text.ts'
import { LIMITS } from '../target/send-to-target.ts'

/** Serves a request that all targets with a capability execute, such as `logging/setLevel` (decision B70). */
export async function answerBroadcast(
  request: McpRequest,
  session: Session,
  message: RequestMessage,
  capability: Capability,
): Promise<ServedAnswer> {
  const present = await presentTargets(request, session)
  const targets = present.filter(({ session }) => session?.capabilities.has(capability))
  if (targets.length === 0) return answerError(request.exchange, message.id, METHOD_NOT_FOUND, 'Method not found')
  const reply = await fanOut(request, session, {
    id: message.id,
    targets,
    textFor: (target) => requestText(request, session, target, message),
    limits: LIMITS.list,
  })
  if (reply.kind === 'failed') {
    abandonAll(reply.opened)
    return reply.answer
  }
  for (const { plan } of targets) noteSetting(session, plan.name, message, request.deps.table)
  const { opened } = reply
  return answerStream(awaitAll(request, session, { message, opened }), () => abandonAll(opened))
}

interface Broadcast {
  readonly message: RequestMessage
  readonly opened: readonly OpenTarget[]
}

async function* awaitAll(
  request: McpRequest,
  session: Session,
  { message, opened }: Broadcast,
): AsyncGenerator<Uint8Array> {
  const outcomes = yield* gather(request, session, { id: message.id, opened })
  if (request.deps.signal.aborted) return
  const error = decisiveError(request, outcomes)
  yield encodeEvent(error === undefined ? resultText(message.id, {}) : passedError(request, message.id, error))
}
