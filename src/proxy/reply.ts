import { REJECTIONS } from '#base/rejections.ts'
import type { Exchange } from '#exchange/exchange.ts'
import { type Answer, type Refusal, refusalStatus } from '#exchange/outcome.ts'
import { Head } from '#net/http1/head.ts'

/** A response that the gateway makes itself, before response policies. */
export interface Reply {
  readonly head: Head
  readonly body: Uint8Array | undefined
}

const GRPC = /^application\/grpc(?:\+|[ \t]*(?:;|$))/i

/** Turns a refusal into a response; the only place that does (decision A-95). `decisionId` leads operators to the record. */
export function replyToRefusal(refusal: Refusal, exchange: Exchange, decisionId: string): Reply {
  if (GRPC.test(exchange.request.get('content-type') ?? '')) return grpcReply(refusal, decisionId)
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
  head.set('grpc-status', String(grpcStatus(refusal)))
  head.set('grpc-message', encodeGrpcMessage(refusal.body ?? REJECTIONS[refusal.code].text))
  addFields(head, refusal, decisionId)
  return { head, body: undefined }
}

function addFields(head: Head, refusal: Refusal, decisionId: string): void {
  for (const [name, value] of refusal.headers) head.append(name, value)
  head.set('gatewright-decision', decisionId)
}

function grpcStatus(refusal: Refusal): number {
  if (refusal.code === 'no-valid-backends') return 14
  switch (refusalStatus(refusal)) {
    case 400:
      return 13
    case 401:
    case 407:
      return 16
    case 403:
      return 7
    case 404:
      return 12
    case 429:
    case 502:
    case 503:
    case 504:
      return 14
    default:
      return 2
  }
}

function encodeGrpcMessage(text: string): string {
  return text.replace(/[^!-$&-~]/gu, (character) => encodeURIComponent(character))
}

/** A configured answer as it is. */
export function replyToAnswer(answer: Answer): Reply {
  const { body } = answer
  return { head: answer.head, body: typeof body === 'string' ? Buffer.from(body) : body }
}
