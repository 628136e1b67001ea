import type { Exchange } from '#exchange/exchange.ts'
import { matchedPathOf } from '#net/http/path-form.ts'
import type { ServedAnswer } from '../../backend-protocol.ts'
import { publisherOf } from '../answer/pass-metadata.ts'
import { accepts, mediaTypeOf } from '../message/accept.ts'
import { refuse } from '../request/mcp-answer.ts'
import type { McpRequest } from '../request/mcp-request.ts'
import { allowedMethods, checkHasSessions, checkRevision } from './find-session.ts'
import { isMeantForLoopback } from './loopback.ts'

type RequestOfClient = Pick<McpRequest, 'plan' | 'exchange'>

/** Checks that depend neither on the message nor on the session. @returns the refusal, if there is one */
export function checkRequest(request: RequestOfClient, boundToLoopback: boolean): ServedAnswer | undefined {
  return (
    checkPlace(request, boundToLoopback) ?? (publisherOf(request) === undefined ? checkMessage(request) : undefined)
  )
}

function checkPlace({ plan, exchange }: RequestOfClient, boundToLoopback: boolean): ServedAnswer | undefined {
  const head = exchange.request
  if (boundToLoopback && !isMeantForLoopback(head.authority, head.joined('origin'))) {
    return refuse(exchange, 'mcp-origin-refused')
  }
  if (plan.targets.length === 0 && plan.failureMode === 'FailClosed' && !concernsSession(exchange)) {
    return refuse(exchange, 'mcp-targets-unavailable', { detail: 'the backend has no targets' })
  }
  return undefined
}

function checkMessage(request: RequestOfClient): ServedAnswer | undefined {
  const { plan, exchange } = request
  // Clients look for OAuth metadata here; "not found" means that there is none.
  if (matchedPathOf(exchange.request.target).startsWith('/.well-known/')) return refuse(exchange, 'route-not-found')
  if (isForOlderTransport(exchange)) {
    return exchange.request.method === 'GET' ? checkAcceptsStream(request) : checkContentType(request)
  }
  switch (exchange.request.method) {
    case 'POST':
      return checkMediaTypes(request)
    case 'GET':
      return checkHasSessions(request) ?? checkAcceptsStream(request) ?? checkRevision(exchange, null)
    case 'DELETE':
      return checkHasSessions(request) ?? checkRevision(exchange, null)
    default:
      return refuse(exchange, 'method-not-allowed', { headers: [['allow', allowedMethods(plan)]] })
  }
}

/** A client may end its session, and wait for notifications, while the backend has no targets. */
function concernsSession(exchange: Exchange): boolean {
  const { method } = exchange.request
  return method === 'DELETE' || (method === 'GET' && !isForOlderTransport(exchange))
}

/** Whether the request is for the entry of the HTTP+SSE transport. Only clients of the newer one send a session header. */
export function isForOlderTransport({ request }: Exchange): boolean {
  if (!matchedPathOf(request.target).endsWith('/sse') || request.has('mcp-session-id')) return false
  return request.method === 'GET' || (request.method === 'POST' && /[?&]sessionId=/.test(request.target))
}

/** A response may be JSON or a stream; the protocol requires clients to accept both. */
function checkMediaTypes({ exchange }: RequestOfClient): ServedAnswer | undefined {
  const head = exchange.request
  const accept = head.joined('accept')
  if (!accepts(accept, 'application/json') || !accepts(accept, 'text/event-stream')) {
    return refuse(exchange, 'mcp-not-acceptable')
  }
  return checkContentType({ exchange })
}

function checkContentType({ exchange }: Pick<RequestOfClient, 'exchange'>): ServedAnswer | undefined {
  const type = mediaTypeOf(exchange.request.joined('content-type'))
  return type === 'application/json' ? undefined : refuse(exchange, 'mcp-content-type')
}

function checkAcceptsStream({ exchange }: RequestOfClient): ServedAnswer | undefined {
  if (accepts(exchange.request.joined('accept'), 'text/event-stream')) return undefined
  return refuse(exchange, 'mcp-not-acceptable')
}
