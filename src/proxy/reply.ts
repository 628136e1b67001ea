import { grpcStatusOf } from '#base/grpc-status.ts'
import { REJECTIONS } from '#base/rejections.ts'
import type { Exchange } from '#exchange/exchange.ts'
import { type Answer, type Refusal, refusalStatus } from '#exchange/outcome.ts'
import { Head } from '#net/http/head.ts'
import { isGrpcRequest } from '#net/http/request-rules.ts'

/** The response field that leads operators from a refusal to its record. */
export const DECISION = 'gatewright-decision'

/** A response of which all is there: one that the gateway makes itself, or one that was gathered for a policy. */
export interface Reply {
  readonly head: Head
  readonly body: Uint8Array | undefined
  /** Of a backend, behind its body. */
  readonly trailers?: Head | undefined
}

/** Turns a refusal into a response; the only place that does (decision A-95). `decisionId` leads operators to the record. */
export function replyToRefusal(refusal: Refusal, exchange: Exchange, decisionId: string): Reply {
  if (isGrpcRequest(exchange.request)) return grpcReply(refusal, decisionId)
  const head = Head.response(refusalStatus(refusal))
  const text = refusal.body ?? REJECTIONS[refusal.code].text
  if (text !== '') head.set('content-type', refusal.contentType ?? 'text/plain')
  addFields(head, refusal, decisionId)
  return { head, body: text === '' ? undefined : Buffer.from(text) }
}

/** gRPC clients read only `grpc-status` (docs/behaviour/http.md, "Refusals"): HTTP 200 without a body. */
function grpcReply(refusal: Refusal, decisionId: string): Reply {
  const head = Head.response(200)
  head.set('content-type', 'application/grpc')
  head.set('grpc-status', String(grpcStatusOf(refusal.code, refusalStatus(refusal))))
  head.set('grpc-message', encodeGrpcMessage(refusal.body ?? REJECTIONS[refusal.code].text))
  addFields(head, refusal, decisionId)
  return { head, body: undefined }
}

function addFields(head: Head, refusal: Refusal, decisionId: string): void {
  for (const [name, value] of refusal.headers) head.append(name, value)
  head.set(DECISION, decisionId)
}

function encodeGrpcMessage(text: string): string {
  return text.replace(/[^!-$&-~]/gu, (character) => encodeURIComponent(character))
}

/** A configured answer as it is. */
export function replyToAnswer(answer: Answer): Reply {
  const { body } = answer
  return { head: answer.head, body: typeof body === 'string' ? Buffer.from(body) : body }
}
