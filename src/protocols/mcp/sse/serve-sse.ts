import type { ServedAnswer } from '../../backend-protocol.ts'
import { ACCEPTED, answerStream, refuse } from '../request/mcp-answer.ts'
import type { McpRequest } from '../request/mcp-request.ts'
import { handlePost, readMessage, refuseUnreadable } from '../serve/handle-post.ts'
import { ClientStream } from './client-stream.ts'
import { followTargets } from './follow-targets.ts'
import { serveLater } from './serve-later.ts'
import { addressOf, askStream, redactEndpoint } from './stream-address.ts'

/**
 * Serves the older HTTP+SSE transport (revision 2024-11-05, "HTTP with SSE"): GET opens a stream with all messages for the client, and its
 * first event names the endpoint for those of the client. The session is one of Streamable HTTP, whatever `sessionRouting` says: its messages
 * are served in the same way, but responses go to the stream.
 */
export async function serveSse(given: McpRequest, body: Uint8Array | undefined): Promise<ServedAnswer> {
  const request: McpRequest = { ...given, plan: { ...given.plan, sessionRouting: 'Stateful' }, era: 'legacy' }
  if (request.exchange.request.method === 'POST') return receive(request, body)
  const stream = new ClientStream(request)
  return answerStream(stream.events(), () => stream.close())
}

async function receive(request: McpRequest, body: Uint8Array | undefined): Promise<ServedAnswer> {
  const { exchange } = request
  redactEndpoint(exchange)
  const address = addressOf(request)
  if (address === undefined) return refuse(exchange, 'mcp-session-unknown')
  const message = readMessage(body)
  if (message.kind === 'unreadable') return refuseUnreadable(request, message)
  if (exchange.mcp !== undefined && message.kind !== 'response') exchange.mcp.method = message.method

  const state = await askStream(request, address, {
    follows: message.kind !== 'response',
    serves: message.kind === 'request' ? message.id : undefined,
  })
  if (state === undefined) return refuse(exchange, 'mcp-session-unknown', { detail: 'the stream has ended' })
  const { sessionId, mustFollow } = state
  if (exchange.mcp !== undefined) exchange.mcp.sessionId = sessionId
  exchange.request.remove('last-event-id')
  if (sessionId !== undefined) exchange.request.set('mcp-session-id', sessionId)
  // They begin now: the services of this request end with it.
  const follow = mustFollow ? followTargets(request, address) : () => {}
  if (message.kind === 'request') {
    serveLater(request, address, message)
    follow()
    return ACCEPTED
  }
  // The next message of the client must not overtake this one on the way to the targets.
  try {
    return await handlePost(request, body)
  } finally {
    follow()
  }
}
