import type { Exchange } from '#exchange/exchange.ts'
import { beginToolCall, NO_MCP } from '#exchange/mcp-facts.ts'
import { matchedPathOf } from '#net/http/path-form.ts'
import type { ServedAnswer } from '../backend-protocol.ts'
import { ACCEPTED, refuse } from './answer/mcp-answer.ts'
import { openStream } from './answer/open-stream.ts'
import type { McpPlan } from './config/mcp-plan.ts'
import { handlePost } from './handle-post.ts'
import { isMeantForLoopback } from './loopback.ts'
import { type McpDeps, type McpRequest, targetsOf } from './mcp-request.ts'
import { accepts } from './message/accept.ts'
import { prepareClose } from './session/close-targets.ts'
import { allowedMethods, checkHasSessions, checkRevision, findSession } from './session/find-session.ts'
import { endSession } from './session/session-state.ts'

/**
 * Serves one HTTP request of an MCP client (Streamable HTTP, revisions 2024-11-05 to 2025-11-25). Fills `exchange.mcp`, and
 * `exchange.refusal` if it refuses. Calls targets through `deps.call`. Only `deps.memory` and `deps.once` keep state for later requests.
 *
 * @param body the whole body of a POST, within the buffer limit
 */
export async function handleMcp(
  plan: McpPlan,
  exchange: Exchange,
  body: Uint8Array | undefined,
  deps: McpDeps,
): Promise<ServedAnswer> {
  const head = exchange.request
  const sessionId = head.joined('mcp-session-id')
  exchange.mcp = {
    ...NO_MCP,
    sessionId: plan.sessionRouting === 'Stateful' ? sessionId : undefined,
    toolCall: deps.maxKept === undefined ? undefined : beginToolCall(deps.maxKept),
  }
  const request: McpRequest = { plan, exchange, deps }
  const refused = checkPlace(request)
  if (refused !== undefined) return refused
  switch (head.method) {
    case 'POST':
      return handlePost(request, body)
    case 'GET':
      return handleGet(request)
    case 'DELETE':
      return handleDelete(request)
    default:
      return refuse(exchange, 'method-not-allowed', { headers: [['allow', allowedMethods(plan)]] })
  }
}

/** Checks that do not depend on the message. */
function checkPlace({ plan, exchange, deps }: McpRequest): ServedAnswer | undefined {
  const head = exchange.request
  if (plan.refusal !== undefined) return refuse(exchange, 'policy-invalid', { detail: plan.refusal })
  if (deps.boundToLoopback === true && !isMeantForLoopback(head.authority, head.joined('origin'))) {
    return refuse(exchange, 'mcp-origin-refused')
  }
  if (plan.targets.length === 0 && plan.failureMode === 'FailClosed') {
    return refuse(exchange, 'mcp-targets-unavailable', { detail: 'the backend has no targets' })
  }
  const path = matchedPathOf(head.target)
  // Clients look for OAuth metadata here; "not found" means that there is none.
  if (path.startsWith('/.well-known/')) return refuse(exchange, 'route-not-found')
  if (isLegacyEntry(exchange, path)) {
    return refuse(exchange, 'method-not-implemented', {
      detail: 'the HTTP+SSE transport of revision 2024-11-05 is not implemented',
    })
  }
  return undefined
}

/** The endpoint of the older transport (decision B82). Only clients of the newer one send a session header. */
function isLegacyEntry({ request }: Exchange, path: string): boolean {
  if (!path.endsWith('/sse') || request.has('mcp-session-id')) return false
  return request.method === 'GET' || (request.method === 'POST' && /[?&]sessionId=/.test(request.target))
}

async function handleGet(request: McpRequest): Promise<ServedAnswer> {
  const { exchange } = request
  const refused = checkHasSessions(request)
  if (refused !== undefined) return refused
  if (!accepts(exchange.request.joined('accept'), 'text/event-stream')) return refuse(exchange, 'mcp-not-acceptable')
  const session = checkRevision(exchange, null) ?? findSession(request)
  return 'status' in session ? session : openStream(request, session)
}

async function handleDelete(request: McpRequest): Promise<ServedAnswer> {
  const refused = checkHasSessions(request) ?? checkRevision(request.exchange, null)
  if (refused !== undefined) return refused
  const session = findSession(request)
  if ('status' in session) return session
  endSession(session, request.deps.once)
  await prepareClose(request, targetsOf(request.plan, session))()
  return ACCEPTED
}
