import type { RejectionCode } from '#base/rejections.ts'
import type { CallResponse } from '#exchange/call.ts'
import type { Exchange } from '#exchange/exchange.ts'
import { noteMcpError } from '#exchange/mcp-facts.ts'
import { failureRejection } from '#exchange/reject-failure.ts'
import type { ServedAnswer } from '../../backend-protocol.ts'
import { SseEventTooLarge } from '../../http/sse.ts'
import { INTERNAL_ERROR, type MessageId } from '../message/json-rpc.ts'
import type { TargetFailure, TargetReply } from '../message/target-reply.ts'
import { refuse, refuseRequest } from '../request/mcp-answer.ts'
import { passedHeaders } from './forward-headers.ts'
import { TargetStreamError } from './target-stream-error.ts'

/** A failed reply of a target. */
export type FailedReply = Extract<TargetReply, { kind: 'refused' | 'failed' }>

/** In place of a call for a session that its client has deleted. */
export const SESSION_DELETED = {
  kind: 'failed',
  failure: 'session-deleted',
  detail: 'the session was deleted while the request was served',
} as const satisfies FailedReply

export function hasFailed(reply: TargetReply): reply is FailedReply {
  return reply.kind === 'refused' || reply.kind === 'failed'
}

/**
 * The response to the client if a required target failed. A refusal of the target itself is forwarded: its 401 has the challenge, its 404
 * means that the session is over. `id` undefined: the message was not a request.
 */
export function answerFailure(exchange: Exchange, failed: FailedReply, id: MessageId | undefined): ServedAnswer {
  if (failed.kind === 'refused') return passThrough(failed.response)
  const rejection = { code: rejectionOf(failed.failure), detail: failed.detail }
  if (id === undefined || failed.failure === 'session-deleted')
    return refuse(exchange, rejection.code, { detail: rejection.detail })
  const message =
    failed.limit === undefined ? 'the target could not be reached' : `the target is overloaded: ${failed.limit}`
  return refuseRequest(exchange, rejection, { id, code: INTERNAL_ERROR, message })
}

function passThrough(response: CallResponse): ServedAnswer {
  return { status: response.status, headers: passedHeaders(response.headers), body: response.body }
}

function rejectionOf(failure: TargetFailure): RejectionCode {
  switch (failure) {
    case 'no-endpoint':
    case 'not-made':
      return 'mcp-targets-unavailable'
    case 'backend-auth-failed':
      return 'backend-auth-failed'
    case 'invalid-answer':
      return 'upstream-failed'
    case 'session-deleted':
      return 'mcp-session-unknown'
    default:
      return failureRejection(failure)
  }
}

/** Records a failure that does not fail the request (FailOpen), in the words of `describeFailure`; only log and decision record show it. */
export function noteTolerated({ mcp }: Exchange, failure: string): void {
  if (mcp === undefined) return
  mcp.toleratedFailures ??= []
  mcp.toleratedFailures.push(failure)
}

/** `connection-refused from target a`, `status 503 from target a` */
export function describeFailure(reply: FailedReply, target: string): string {
  return reply.kind === 'failed' ? reply.detail : `status ${reply.response.status} from target ${target}`
}

/** Records that a stream broke after its response had begun; only log and decision record can still show it. */
export function noteFailure(exchange: Exchange, error: unknown): void {
  exchange.refusalDetail = error instanceof Error ? error.message : brokenStreamText(error)
  noteMcpError(exchange.mcp, INTERNAL_ERROR, exchange.refusalDetail)
}

/** Why a stream broke, for the client, which may know exceeded limits only. */
export function brokenStreamText(error: unknown): string {
  const text = 'the stream from a target failed'
  if (error instanceof TargetStreamError && error.limit !== undefined) return `${text}: ${error.message}`
  return error instanceof SseEventTooLarge ? `${text}: ${error.message}` : text
}
