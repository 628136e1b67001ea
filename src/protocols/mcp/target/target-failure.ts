import type { RejectionCode } from '#base/rejections.ts'
import type { CallResponse } from '#exchange/call.ts'
import type { Exchange } from '#exchange/exchange.ts'
import { failureRejection } from '#exchange/reject-failure.ts'
import type { ServedAnswer } from '../../backend-protocol.ts'
import { refuse, refuseRequest } from '../answer/mcp-answer.ts'
import { INTERNAL_ERROR, type MessageId } from '../message/json-rpc.ts'
import type { TargetFailure, TargetReply } from './call-target.ts'
import { passedHeaders } from './forward-headers.ts'

/** A target did not take a request as it should have. */
export type FailedReply = Extract<TargetReply, { kind: 'refused' | 'failed' }>

export function hasFailed(reply: TargetReply): reply is FailedReply {
  return reply.kind === 'refused' || reply.kind === 'failed'
}

/**
 * What the client gets when a target it depends on failed. A target's own refusal goes through as it is: its 401 carries the
 * challenge, its 404 says that the session is over. `id` undefined: it was no request.
 */
export function answerFailure(exchange: Exchange, failed: FailedReply, id: MessageId | undefined): ServedAnswer {
  if (failed.kind === 'refused') return passThrough(failed.response)
  const rejection = { code: rejectionOf(failed.failure), detail: failed.detail }
  if (id === undefined) return refuse(exchange, rejection.code, { detail: rejection.detail })
  return refuseRequest(exchange, rejection, { id, code: INTERNAL_ERROR, message: 'the target could not be reached' })
}

function passThrough(response: CallResponse): ServedAnswer {
  return { status: response.status, headers: passedHeaders(response.headers), body: response.body }
}

function rejectionOf(failure: TargetFailure): RejectionCode {
  switch (failure) {
    case 'no-endpoint':
      return 'mcp-targets-unavailable'
    case 'backend-auth-failed':
      return 'backend-auth-failed'
    case 'invalid-answer':
      return 'upstream-failed'
    default:
      return failureRejection(failure)
  }
}

/** A stream broke after its response had begun; only log and decision record can still say why. */
export function noteFailure(exchange: Exchange, error: unknown): void {
  exchange.refusalDetail = error instanceof Error ? error.message : 'the stream from a target failed'
  if (exchange.mcp !== undefined) exchange.mcp.errorCode = INTERNAL_ERROR
}
