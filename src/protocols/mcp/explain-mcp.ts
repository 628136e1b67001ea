import { parseExactJson } from '#base/exact-json.ts'
import type { JsonObject } from '#base/json.ts'
import type { Exchange } from '#exchange/exchange.ts'
import { NO_MCP } from '#exchange/mcp-facts.ts'
import { type Refusal, reject } from '#exchange/outcome.ts'
import type { ServedAnswer } from '../backend-protocol.ts'
import { initializeText } from './answer/answer-initialize.ts'
import { prepareItem } from './answer/answer-item.ts'
import { publisherOf } from './answer/pass-metadata.ts'
import type { McpPlan, McpTargetPlan } from './config/mcp-plan.ts'
import type { RequestMessage } from './message/json-rpc.ts'
import { type MethodRoute, methodRoute, needsSession } from './message/methods.ts'
import { eraOf } from './message/protocol-version.ts'
import type { McpRequest } from './request/mcp-request.ts'
import { checkLegacy, checkModern } from './serve/check-modern.ts'
import { checkRequest, isForOlderTransport } from './serve/check-request.ts'
import { checkRevision } from './serve/find-session.ts'
import { readMessage, refuseUnreadable } from './serve/handle-post.ts'

/** The requests to targets for one message, for `explain`. */
export interface McpExplanation {
  /** JSON-RPC method; undefined if the body is invalid or a response. */
  readonly method: string | undefined
  /** In the order of the targets; empty if the gateway responds itself. */
  readonly requests: readonly McpTargetRequest[]
  /** One sentence that describes the handling. */
  readonly note: string
  /** What the client gets when the gateway refuses the request; a JSON-RPC error with status 200 is not a refusal. */
  readonly refusal?: Refusal
}

export interface McpTargetRequest {
  readonly target: string
  readonly method: 'POST'
  readonly path: string
  readonly message: JsonObject
}

/**
 * Explains how a request would be handled, without sending anything. Assumes a valid session in which every target takes part.
 * Evaluates authorization rules with `exchange`, and fills its `mcp` and `refusal` as at run time.
 */
export function explainMcp(
  plan: McpPlan,
  exchange: Exchange,
  body: Uint8Array | undefined,
  boundToLoopback = false,
): McpExplanation {
  exchange.mcp = { ...NO_MCP }
  const refused = checkRequest({ plan, exchange }, boundToLoopback)
  if (refused !== undefined) return explainRefusal(exchange, undefined, refused)
  const publisher = publisherOf({ plan, exchange })
  if (publisher !== undefined) return answered(undefined, `asks target ${publisher.name} for its OAuth metadata`)
  if (isForOlderTransport(exchange)) return explainOlderTransport(plan, exchange, body)
  switch (exchange.request.method) {
    case 'POST':
      return explainPost(plan, exchange, body)
    case 'GET':
      return answered(undefined, 'opens the stream of messages of the session')
    default:
      return answered(undefined, 'ends the session, also at every target')
  }
}

function explainOlderTransport(plan: McpPlan, exchange: Exchange, body: Uint8Array | undefined): McpExplanation {
  if (exchange.request.method === 'GET') {
    return answered(undefined, 'opens a stream of the older HTTP+SSE transport, for all messages to the client')
  }
  const explanation = explainPost({ ...plan, sessionRouting: 'Stateful' }, exchange, body)
  return { ...explanation, note: `${explanation.note}; responses go to the stream of the client` }
}

function explainPost(plan: McpPlan, exchange: Exchange, body: Uint8Array | undefined): McpExplanation {
  const message = readMessage(body)
  if (message.kind === 'unreadable') return explainRefusal(exchange, undefined, refuseUnreadable({ exchange }, message))
  const version = exchange.request.joined('mcp-protocol-version')?.trim() ?? ''
  const era = eraOf(version) ?? 'legacy'
  const unsupported =
    checkRevision(exchange, message.kind === 'request' ? message.id : null) ??
    (era === 'modern' ? checkModern({ plan, exchange }, message) : checkLegacy({ plan, exchange }, message))
  if (unsupported !== undefined) return explainRefusal(exchange, undefined, unsupported)
  const hasSession = plan.sessionRouting === 'Stateful' && era === 'legacy'
  switch (message.kind) {
    case 'response':
      return answered(undefined, 'sent to the target whose request it answers, found by the id')
    case 'notification': {
      if (!hasSession) return answered(message.method, 'dropped, because there is no session')
      const note = NOTIFICATION_NOTES.get(message.method) ?? 'sent to every target'
      return { method: message.method, requests: sendAll(plan.targets, message.json), note }
    }
    case 'request': {
      const isOffered = hasSession || !needsSession(message.method, era)
      return explainRequest({ plan, exchange, era }, message, isOffered ? methodRoute(message.method, era) : undefined)
    }
  }
}

type Explained = Pick<McpRequest, 'plan' | 'exchange' | 'era'>

const NOTIFICATION_NOTES: ReadonlyMap<string, string> = new Map([
  ['notifications/cancelled', 'sent to the target that processes the request'],
  ['notifications/progress', 'sent to the target that issued the progress token'],
])

function explainRequest(request: Explained, message: RequestMessage, route: MethodRoute | undefined): McpExplanation {
  const { plan } = request
  const { method, json } = message
  switch (route?.kind) {
    case undefined:
      return answered(method, 'refused: the method is not supported')
    case 'ping':
      return answered(method, 'answered by the gateway')
    case 'discover':
      return { method, requests: sendAll(plan.targets, json), note: 'the responses are merged' }
    case 'listen':
      return { method, requests: sendAll(plan.targets, json), note: 'their notifications are one stream' }
    case 'initialize': {
      const sent = parseExactJson(initializeText(message)) as JsonObject
      const note = plan.multiplexes ? 'the responses are merged' : 'the response of the target is forwarded'
      return { method, requests: sendAll(plan.targets, sent), note }
    }
    case 'list':
      return {
        method,
        requests: sendAll(plan.targets, json),
        note: `the ${route.list.member} of all targets with the capability ${route.list.capability} are merged`,
      }
    case 'broadcast':
      return {
        method,
        requests: sendAll(plan.targets, json),
        note: `sent to every target with the capability ${route.capability}`,
      }
    case 'item':
      return explainItem(request, message, route)
  }
}

function explainItem(
  { plan, exchange, era }: Explained,
  message: RequestMessage,
  { parameter }: Extract<MethodRoute, { kind: 'item' }>,
): McpExplanation {
  exchange.mcp = { ...NO_MCP, method: message.method }
  const item = prepareItem({ plan, exchange, era }, plan, message, parameter)
  if ('status' in item) return explainRefusal(exchange, message.method, item)
  const { target, params } = item
  const requests = sendAll([target], { ...message.json, params })
  const pinned = parameter === 'tool-name' && plan.pinning !== undefined ? '; refused if the tool has changed' : ''
  return { method: message.method, requests, note: `target ${target.name} owns the item${pinned}` }
}

function explainRefusal(
  exchange: Exchange,
  method: string | undefined,
  { status, headers, body }: ServedAnswer,
): McpExplanation {
  const { refusal: code, refusalDetail: detail } = exchange
  if (code === undefined) return answered(method, 'refused')
  const text = body instanceof Uint8Array ? new TextDecoder().decode(body).trimEnd() : undefined
  return { ...answered(method, 'refused'), refusal: reject(code, { status, detail, headers, body: text }) }
}

function answered(method: string | undefined, note: string): McpExplanation {
  return { method, requests: [], note }
}

function sendAll(targets: readonly McpTargetPlan[], message: JsonObject): McpTargetRequest[] {
  return targets.map(({ name, path }) => ({ target: name, method: 'POST', path, message }))
}

/** Lines of text for `explain`: the requests that the gateway would send. */
export function describeMcp({ method, requests, note }: McpExplanation): string[] {
  const lines = ['MCP, terminated at the gateway', `  ${method ?? 'request'}: ${note}`]
  for (const { target, method: verb, path, message } of requests) {
    lines.push(`  to ${target}: ${verb} ${path}`, `    ${JSON.stringify(message)}`)
  }
  return lines
}
