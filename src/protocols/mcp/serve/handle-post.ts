import { heapOfJson } from '#base/heap-of-json.ts'
import type { ServedAnswer } from '../../backend-protocol.ts'
import { afterBody } from '../answer/after-body.ts'
import { answerBroadcast } from '../answer/answer-broadcast.ts'
import { answerInitialize } from '../answer/answer-initialize.ts'
import { answerItem, extensionItem, prepareItem } from '../answer/answer-item.ts'
import { answerList } from '../answer/answer-list.ts'
import { checkTargets } from '../calls/check-targets.ts'
import { deliverNotification, deliverResponse } from '../calls/deliver.ts'
import { learnTools, unknownToolOwner } from '../calls/learn-tool.ts'
import {
  errorText,
  INVALID_REQUEST,
  METHOD_NOT_FOUND,
  type Message,
  parseMessage,
  type RequestMessage,
  resultText,
  type UnreadableMessage,
} from '../message/json-rpc.ts'
import { type ItemParameter, isForExtension, methodRoute } from '../message/methods.ts'
import { answerError, answerMessages, refuse, refuseRequest } from '../request/mcp-answer.ts'
import type { McpRequest } from '../request/mcp-request.ts'
import { namingOf } from '../session/session-naming.ts'
import { isEnded, type Session } from '../session/session-state.ts'
import { kindOf } from '../target/find-item.ts'
import { answerFailure, SESSION_DELETED } from '../target/target-failure.ts'
import { checkLegacy, checkModern } from './check-modern.ts'
import { checkRevision, findSession } from './find-session.ts'
import { serveWithoutSession } from './serve-without-session.ts'

const decoder = new TextDecoder('utf-8', { fatal: true })

const SMALL_BYTES = 1024

/** Serves a POST: one JSON-RPC message of the client. */
export function handlePost(request: McpRequest, body: Uint8Array | undefined): ServedAnswer | Promise<ServedAnswer> {
  const { exchange } = request
  const message = readMessage(body)
  if (message.kind === 'unreadable') return refuseUnreadable(request, message)
  const unkept = isLarge(body) ? exchange.bodies.request.keep(heapOfJson(message.json)) : undefined
  if (unkept !== undefined) return refuse(exchange, unkept.code, { detail: unkept.detail ?? unkept.code })
  if (exchange.mcp !== undefined && message.kind !== 'response') exchange.mcp.method = message.method

  const unsupported = checkRevision(exchange, message.kind === 'request' ? message.id : null)
  if (unsupported !== undefined) return unsupported
  const misfit = request.era === 'modern' ? checkModern(request, message) : checkLegacy(request, message)
  if (misfit !== undefined) return misfit
  if (request.era === 'modern') return serveWithoutSession(request, message)
  if (message.kind === 'request' && message.method === 'initialize') return initialise(request, message)

  if (request.plan.sessionRouting === 'Stateless') return serveWithoutSession(request, message)
  const session = findSession(request)
  if ('status' in session) return session
  switch (message.kind) {
    case 'request':
      return answerWithinBounds(request, session, message)
    case 'notification':
      return deliverNotification(request, session, message)
    case 'response':
      return deliverResponse(request, session, message)
  }
}

/** Whether its JSON counts as memory of bodies: it lives as long as the request, which may wait for a slow target. */
function isLarge(body: Uint8Array | undefined): boolean {
  return body !== undefined && body.length > SMALL_BYTES
}

/** The message in the body of a POST. */
export function readMessage(body: Uint8Array | undefined): Message | UnreadableMessage {
  try {
    return parseMessage(body === undefined ? '' : decoder.decode(body))
  } catch {
    // Not UTF-8.
    return parseMessage('')
  }
}

/** Why a body is no message, for operators. */
const UNREADABLE = {
  'not-json': 'the body is not JSON',
  batch: 'the body is a batch of messages',
  'not-a-message': 'the body is not a JSON-RPC message',
  'no-id': 'the message is a request without an id',
  'too-deep': 'the message is nested too deep',
  ambiguous: 'the message is ambiguous',
} as const satisfies Record<UnreadableMessage['problem'], string>

/** The same for the client, where the body is JSON-RPC. */
const TOLD: Partial<Record<UnreadableMessage['problem'], string>> = {
  batch: 'batch not supported',
  'no-id': 'the request has no id',
}

/** A body that is no message, or an ambiguous one. */
export function refuseUnreadable(
  { exchange }: Pick<McpRequest, 'exchange'>,
  { problem, detail, id }: UnreadableMessage,
): ServedAnswer {
  if (detail !== undefined) {
    const error = { id, code: INVALID_REQUEST, message: detail }
    return refuseRequest(exchange, { code: 'mcp-message-ambiguous', detail }, error)
  }
  const told = TOLD[problem]
  const json = told === undefined ? {} : { json: errorText(null, INVALID_REQUEST, told) }
  return refuse(exchange, 'mcp-message-invalid', { detail: UNREADABLE[problem], ...json })
}

/** An `initialize` within a session begins a new session, as without the header: otherwise two sessions would have one id. */
function initialise(request: McpRequest, message: RequestMessage): ServedAnswer | Promise<ServedAnswer> {
  const { exchange } = request
  const named = exchange.request.joined('mcp-protocol-version')
  if (named !== undefined && named !== message.params?.protocolVersion) {
    return refuse(exchange, 'mcp-version-unsupported', {
      detail: 'the header and the message have different protocol versions',
    })
  }
  if (exchange.mcp !== undefined) exchange.mcp.sessionId = undefined
  return answerInitialize(request, message)
}

/** A client that does not wait for responses, or a target that does not send them, cannot fill the memory of the worker. */
async function answerWithinBounds(
  request: McpRequest,
  session: Session,
  message: RequestMessage,
): Promise<ServedAnswer> {
  const { exchange, deps } = request
  const end = deps.memory.load.begin('request', session.key)
  if (end === undefined) {
    // SDKs turn an error status into a failure of the transport.
    const rejection = {
      code: 'mcp-session-busy',
      status: 200,
      detail: 'the session has 1,000 requests in flight',
    } as const
    return refuseRequest(exchange, rejection, {
      id: message.id,
      code: SERVER_BUSY,
      message: 'Too many requests in flight',
    })
  }
  try {
    const checking = checkTargets(request, session, message)
    const unavailable = checking && (await checking)
    return afterBody(unavailable ?? (await answerRequest(request, session, message)), end)
  } catch (error) {
    end()
    throw error
  }
}

/** A code of implementations (JSON-RPC 2.0, 5.1). */
const SERVER_BUSY = -32_000

function answerRequest(
  request: McpRequest,
  session: Session,
  message: RequestMessage,
): ServedAnswer | Promise<ServedAnswer> {
  const route = methodRoute(message.method, 'legacy')
  switch (route?.kind) {
    case 'ping':
      return answerMessages([resultText(message.id, {})])
    case 'list':
      return answerList(request, session, message, route.list)
    case 'broadcast':
      return answerBroadcast(request, session, message, route.capability)
    case 'item':
      return answerNamed(request, session, message, route.parameter)
    default:
      if (isForExtension(request.plan, message.method))
        return answerItem(request, session, message, extensionItem(request.plan, message))
      return answerError(request.exchange, message.id, METHOD_NOT_FOUND, 'Method not found')
  }
}

function answerNamed(
  request: McpRequest,
  session: Session,
  message: RequestMessage,
  parameter: ItemParameter,
): ServedAnswer | Promise<ServedAnswer> {
  const naming = namingOf(request.plan, session, kindOf(parameter, message.params), request.deps.table)
  const answer = () => {
    const item = prepareItem(request, naming, message, parameter)
    return 'status' in item ? item : answerItem(request, session, message, item)
  }
  const owner = unknownToolOwner(request, naming, message, parameter)
  if (owner === undefined) return answer()
  return learnTools(request, session, owner, message).then(() =>
    isEnded(session, request.deps.table) ? answerFailure(request.exchange, SESSION_DELETED, undefined) : answer(),
  )
}
