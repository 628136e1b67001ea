import type { ServedAnswer } from '../../backend-protocol.ts'
import { INTERNAL_ERROR, type RequestMessage } from '../message/json-rpc.ts'
import { refuseRequest } from '../request/mcp-answer.ts'
import { type McpRequest, type SessionTarget, targetsOf } from '../request/mcp-request.ts'
import type { Session } from '../session/session-state.ts'
import { abandon } from '../target/abandon.ts'
import { sendToTarget } from '../target/send-to-target.ts'

/**
 * With FailClosed, every request of a session fails while one of its targets is known to be unreachable (specification 1, 2.3.4, decision
 * B63).
 */
export function checkTargets(
  request: McpRequest,
  session: Session,
  message: RequestMessage,
): Promise<ServedAnswer | undefined> | undefined {
  const { plan, deps } = request
  if (deps.memory.reachability.isWhole || plan.failureMode === 'FailOpen') return undefined
  return findLostTarget(request, session, message)
}

async function findLostTarget(
  request: McpRequest,
  session: Session,
  message: RequestMessage,
): Promise<ServedAnswer | undefined> {
  const { exchange, deps } = request
  const { reachability } = deps.memory
  const states = await Promise.all(
    targetsOf(request, session).map(async (target) => ({
      name: target.plan.name,
      isReachable: await reachability.isReachable(target.plan.destination, () => ping(request, target)),
    })),
  )
  const lost = states.find(({ isReachable }) => !isReachable)
  if (lost === undefined) return undefined
  return refuseRequest(
    exchange,
    { code: 'mcp-targets-unavailable', detail: `target ${lost.name} cannot be reached, and failureMode is FailClosed` },
    { id: message.id, code: INTERNAL_ERROR, message: 'a target of this session cannot be reached' },
  )
}

/** Any response shows that the target is there, even a refusal. */
async function ping(request: McpRequest, { plan, session }: SessionTarget): Promise<void> {
  const reply = await sendToTarget(request, { target: plan, session, method: 'POST', message: PING, limits: LIMIT })
  abandon(reply)
}

const PING = JSON.stringify({ jsonrpc: '2.0', id: 'reachable', method: 'ping' })
const LIMIT = { headMs: 2_000 }
