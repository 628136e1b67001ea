import { clock } from '#base/clock.ts'
import type { Exchange } from '#exchange/exchange.ts'
import { noteMcpError } from '#exchange/mcp-facts.ts'
import type { ServedAnswer } from '../../backend-protocol.ts'
import type { McpPlan } from '../config/mcp-plan.ts'
import { errorText, type MessageId, UNSUPPORTED_VERSION } from '../message/json-rpc.ts'
import { eraOf, REVISIONS } from '../message/protocol-version.ts'
import { refuse } from '../request/mcp-answer.ts'
import type { McpRequest } from '../request/mcp-request.ts'
import { openSession, type Session } from '../session/session-state.ts'

/** The session that the request names, or the response if there is none. */
export function findSession(request: McpRequest): Session | ServedAnswer {
  const { plan, exchange, deps } = request
  const id = exchange.request.joined('mcp-session-id')
  if (id === undefined) return refuse(exchange, 'mcp-session-missing')
  const owner = { backend: plan.backend, identity: exchange.identity }
  const session = openSession(id, owner, {
    sealer: deps.sealer,
    table: deps.table,
    nowMs: clock.now(),
    opened: deps.memory.opened,
  })
  if (session === undefined) return refuse(exchange, 'mcp-session-unknown')
  deps.memory.activities.begin(request, session, id)
  return session
}

/** Refuses methods that need a session on a backend without sessions (decision B66). */
export function checkHasSessions({ plan, exchange }: Pick<McpRequest, 'plan' | 'exchange'>): ServedAnswer | undefined {
  if (plan.sessionRouting === 'Stateful') return undefined
  return refuse(exchange, 'method-not-allowed', { headers: [['allow', allowedMethods(plan)]] })
}

export function allowedMethods({ sessionRouting }: McpPlan): string {
  return sessionRouting === 'Stateful' ? 'GET, POST, DELETE' : 'POST'
}

const UNSUPPORTED = 'Unsupported protocol version'

/**
 * A request may name its protocol revision; older clients do not. A client with an unsupported revision gets the list of supported ones, so
 * that it can fall back to an older one.
 *
 * @param id of the message, if there is one
 */
export function checkRevision(exchange: Exchange, id: MessageId | null): ServedAnswer | undefined {
  const requested = exchange.request.joined('mcp-protocol-version')
  if (requested === undefined || eraOf(requested.trim()) !== undefined) return undefined
  noteMcpError(exchange.mcp, UNSUPPORTED_VERSION, UNSUPPORTED)
  const data = { supported: [...REVISIONS], requested }
  return refuse(exchange, 'mcp-version-unsupported', {
    json: errorText(id, UNSUPPORTED_VERSION, UNSUPPORTED, data),
  })
}
