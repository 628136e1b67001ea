import { type Call, CallError, type CallResponse } from '#exchange/call.ts'
import { describeCause, reachedBound } from '#exchange/reject-failure.ts'
import type { McpTargetPlan } from '../config/mcp-plan.ts'
import { LATEST_SESSIONLESS } from '../message/protocol-version.ts'
import { encodeHeader, type RequestHeaders } from '../message/request-headers.ts'
import type { FailedCall, TargetReply } from '../message/target-reply.ts'
import type { McpRequest } from '../request/mcp-request.ts'
import type { Session } from '../session/session-state.ts'
import type { TargetSession } from '../session/target-session.ts'
import { targetHeaders } from './forward-headers.ts'
import { noteAttempt, sinceReceived } from './note-attempt.ts'
import { readReply } from './read-reply.ts'
import { readSentMessage } from './read-sent-message.ts'
import { redirectedPath } from './redirected-path.ts'

export interface TargetCall {
  readonly target: McpTargetPlan
  /** Undefined before the target is initialised. */
  readonly session: TargetSession | undefined
  readonly method: 'POST' | 'GET'
  /** JSON-RPC text of a POST. */
  readonly message: string | undefined
  /** Time limits, unless a policy of the target sets one; see `LIMITS`. */
  readonly limits?: CallLimits
  /** For header fields of a request to a target of the modern era. */
  readonly names?: RequestHeaders
  /** Further header fields. */
  readonly fields?: readonly (readonly [name: string, value: string])[]
  /** The target may process it twice. */
  readonly isRepeatable?: boolean
  /** The session of the client; unset: none. */
  readonly of?: Session
  /** Where a target with the HTTP+SSE transport wants messages; unset: the path of the target, at any replica. */
  readonly at?: { readonly path: string; readonly label: string }
  /** Continues a stream after this event, in byte text. */
  readonly lastEventId?: string | undefined
}

export interface CallLimits {
  /** To the head of the response, in milliseconds. */
  readonly headMs?: number
  /** To the end of the response, in milliseconds. */
  readonly wholeMs?: number
}

/** How long a target may take, by phase. Calls of tools and other items have no limit: they may be long. */
export const LIMITS = {
  initialize: { wholeMs: 10_000 },
  list: { wholeMs: 30_000 },
  notification: { headMs: 10_000 },
  // Some servers respond only when they have something to say.
  stream: {},
} as const satisfies Readonly<Record<string, CallLimits>>

const MAX_REDIRECTS = 3

const encoder = new TextEncoder()

/** Sends one HTTP request to a target. Failures of the target are values; the promise is not rejected for them. */
export async function sendToTarget(request: McpRequest, call: TargetCall): Promise<TargetReply> {
  const { deps } = request
  const sent = await requestTarget(request, call, deps.call, { signal: deps.signal, limits: call.limits })
  return 'kind' in sent ? sent : readReply(call.target, sent.response, deps)
}

interface Sending {
  readonly signal: AbortSignal
  readonly limits?: CallLimits | undefined
}

/** A response, with the path of the request that it answers. */
export interface TargetResponse {
  readonly response: CallResponse
  readonly path: string
}

/** Follows redirects within the target. A request that did not reach its replica goes to another one, unless the replica has the session. */
export async function requestTarget(
  request: McpRequest,
  call: TargetCall,
  send: Call,
  { signal, limits = {} }: Sending,
): Promise<TargetResponse | FailedCall> {
  const { deps } = request
  const { target, session, method, message, at } = call
  if (target.unusable !== undefined) return { kind: 'failed', failure: 'no-endpoint', detail: target.unusable }
  const headers = headersFor(request, call)
  const body = message === undefined ? undefined : encoder.encode(message)
  const isBound = at !== undefined || session?.sessionId !== undefined
  const avoid: string[] = []
  let path = at?.path ?? target.path
  for (let redirects = 0; ; ) {
    const sentMs = sinceReceived(request)
    try {
      const response = await send(target.destination, {
        purpose: 'mcp',
        method,
        path,
        headers,
        body,
        timeoutMs: limits.headMs ?? 0,
        defaultDeadlineMs: limits.wholeMs,
        signal,
        prefer: at?.label ?? session?.endpoint,
        avoid,
        isRepeatable: call.isRepeatable === true,
        mcp: request.exchange.span === undefined || message === undefined ? undefined : readSentMessage(message),
      })
      deps.memory.reachability.note(target.destination, true)
      noteAttempt(request, {
        endpoint: target.name,
        status: response.status,
        failure: undefined,
        sentMs,
        answeredMs: sinceReceived(request),
      })
      const redirected = redirectedPath(response, method, path)
      if (redirected === undefined) return { response, path }
      if (!redirected.startsWith('/') || redirects++ >= MAX_REDIRECTS) return misdirected(target, redirected)
      path = redirected
    } catch (error) {
      if (!(error instanceof CallError)) throw error
      const { failure, detail, unreached } = error
      if (!deps.signal.aborted) deps.memory.reachability.note(target.destination, unreached === undefined)
      noteAttempt(request, {
        endpoint: target.name,
        status: 0,
        failure,
        detail,
        sentMs,
        answeredMs: sinceReceived(request),
      })
      const canMove = unreached !== undefined && !isBound && !avoid.includes(unreached)
      if (!canMove || deps.signal.aborted) return failedCall(target, error)
      avoid.push(unreached)
    }
  }
}

function headersFor({ plan, exchange }: McpRequest, call: TargetCall): ReturnType<typeof targetHeaders> {
  const { target, session, method, message, lastEventId, names, fields = [] } = call
  const headers = targetHeaders(plan, exchange, target, session)
  headers.push(['accept', method === 'GET' ? 'text/event-stream' : 'application/json, text/event-stream'])
  if (message !== undefined) headers.push(['content-type', 'application/json'])
  if (lastEventId !== undefined && lastEventId !== '') headers.push(['last-event-id', lastEventId])
  if (names !== undefined && session?.version === LATEST_SESSIONLESS) {
    headers.push(['mcp-method', names.method])
    if (names.name !== undefined) headers.push(['mcp-name', encodeHeader(names.name)])
  }
  headers.push(...fields)
  return headers
}

const MISDIRECTED: Readonly<Record<string, string>> = {
  elsewhere: 'redirects to another server',
  refused: 'redirects a message with a status that would drop it',
}

function misdirected({ name }: McpTargetPlan, to: string): FailedCall {
  const detail = MISDIRECTED[to] ?? 'redirects too often'
  return { kind: 'failed', failure: 'invalid-answer', detail: `target ${name} ${detail}` }
}

/** A failed call as the reply of the target, in words for operators. */
export function failedCall({ name }: McpTargetPlan, { failure, detail, unreached }: CallError): FailedCall {
  const cause = { code: failure, detail }
  const limit = reachedBound(cause)
  return {
    kind: 'failed',
    failure,
    detail: describeCause(cause, `from target ${name}`),
    ...(limit && { limit }),
    ...(unreached !== undefined && { unreached: true }),
  }
}
