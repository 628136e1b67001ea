import type { Exchange } from '#exchange/exchange.ts'
import { beginToolCall, NO_MCP } from '#exchange/mcp-facts.ts'
import type { ServedAnswer } from '../backend-protocol.ts'
import { afterBody } from './answer/after-body.ts'
import { openStream } from './answer/open-stream.ts'
import { passMetadata, publisherOf } from './answer/pass-metadata.ts'
import type { McpPlan } from './config/mcp-plan.ts'
import { eraOf } from './message/protocol-version.ts'
import { ENDED, refuse } from './request/mcp-answer.ts'
import { type McpDeps, type McpRequest, targetsOf } from './request/mcp-request.ts'
import { checkRequest, isForOlderTransport } from './serve/check-request.ts'
import { findSession } from './serve/find-session.ts'
import { handlePost } from './serve/handle-post.ts'
import { endCallsOf } from './session/calls-in-flight.ts'
import { endSession } from './session/session-state.ts'
import { announceEnd } from './session/session-stream.ts'
import { serveSse } from './sse/serve-sse.ts'
import { prepareClose } from './transport/close-targets.ts'

/**
 * Serves one HTTP request of an MCP client (Streamable HTTP, revisions 2024-11-05 to 2026-07-28; HTTP+SSE of 2024-11-05). Fills `exchange.mcp`, and
 * `exchange.refusal` if it refuses. Calls targets through `deps.call`. Only `deps.memory` and `deps.table` keep state for later requests.
 *
 * @param body the whole body of a POST, within the buffer limit
 */
export function handleMcp(
  plan: McpPlan,
  exchange: Exchange,
  body: Uint8Array | undefined,
  deps: McpDeps,
): ServedAnswer | Promise<ServedAnswer> {
  const head = exchange.request
  const version = head.joined('mcp-protocol-version')?.trim()
  const era = (version === undefined ? undefined : eraOf(version)) ?? 'legacy'
  const hasSession = era === 'legacy' && plan.sessionRouting === 'Stateful'
  exchange.mcp = {
    ...NO_MCP,
    sessionId: hasSession ? head.joined('mcp-session-id') : undefined,
    toolCall: deps.maxKept === undefined ? undefined : beginToolCall(deps.maxKept),
  }
  const request: McpRequest = { plan, exchange, deps, era }
  const refused = checkRequest(request, deps.boundToLoopback === true)
  if (refused !== undefined) return refused
  const publisher = publisherOf(request)
  if (publisher !== undefined) return passMetadata(request, publisher)
  if (isForOlderTransport(exchange)) return serveSse(request, body)
  switch (head.method) {
    case 'POST':
      return handlePost(request, body)
    case 'GET':
      return handleGet(request)
    default:
      return handleDelete(request)
  }
}

async function handleGet(request: McpRequest): Promise<ServedAnswer> {
  const session = findSession(request)
  if ('status' in session) return session
  const end = request.deps.memory.load.begin('stream', session.key)
  if (end === undefined) {
    const detail = 'the session has 64 open streams'
    return refuse(request.exchange, 'mcp-session-busy', { detail, headers: [['retry-after', '1']] })
  }
  try {
    return afterBody(await openStream(request, session), end)
  } catch (error) {
    end()
    throw error
  }
}

async function handleDelete(request: McpRequest): Promise<ServedAnswer> {
  const session = findSession(request)
  if ('status' in session) return session
  const { table, channels } = request.deps
  endSession(session, table)
  // No worker serves the session from now on.
  await announceEnd(channels, session.key)
  await endCallsOf(channels, session.key)
  await prepareClose(request, targetsOf(request, session))()
  return ENDED
}
