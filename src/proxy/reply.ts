import { grpcStatusOf } from '#base/grpc-status.ts'
import type { Exchange } from '#exchange/exchange.ts'
import { type Answer, type Refusal, refusalStatus, refusalText } from '#exchange/outcome.ts'
import { encodeGrpcMessage } from '#net/grpc/status-fields.ts'
import { discourageRetries } from '#net/http/discourage-retries.ts'
import { Head } from '#net/http/head.ts'
import { isGrpcRequest } from '#net/http/request-rules.ts'

/** The response field with the id of the decision record. */
export const DECISION = 'gatewright-decision'

/** A complete response: made by the gateway, or buffered for a policy. */
export interface Reply {
  readonly head: Head
  readonly body: Uint8Array | undefined
  /** Trailers of the backend's response. */
  readonly trailers?: Head | undefined
}

/** Converts a refusal to a response; no other code does (decision A-95). `decisionId` identifies the decision record. */
export function replyToRefusal(refusal: Refusal, exchange: Exchange, decisionId: string): Reply {
  if (exchange.version === '2' && isGrpcRequest(exchange.request)) return grpcReply(refusal, decisionId)
  const head = Head.response(refusalStatus(refusal))
  const body = refusal.bytes ?? Buffer.from(refusalText(refusal))
  if (body.length > 0) head.set('content-type', refusal.contentType ?? 'text/plain')
  addFields(head, refusal, decisionId)
  discourageRetries(head, exchange.context.now())
  return { head, body: body.length === 0 ? undefined : body }
}

/** The form for gRPC clients, which read only `grpc-status`: HTTP 200 without a body (docs/behaviour/http.md, "Refusals"). */
function grpcReply(refusal: Refusal, decisionId: string): Reply {
  const head = Head.response(200)
  head.set('content-type', 'application/grpc')
  head.set('grpc-status', String(grpcStatusOf(refusal.code, refusalStatus(refusal))))
  head.set('grpc-message', encodeGrpcMessage(refusalText(refusal)))
  addFields(head, refusal, decisionId)
  return { head, body: undefined }
}

function addFields(head: Head, refusal: Refusal, decisionId: string): void {
  for (const [name, value] of refusal.headers) head.append(name, value)
  head.set(DECISION, decisionId)
}

/** A configured answer, unchanged. */
export function replyToAnswer(answer: Answer): Reply {
  const { body } = answer
  return { head: answer.head, body: typeof body === 'string' ? Buffer.from(body) : body }
}
