import { grpcStatusOf } from '#base/grpc-status.ts'
import type { Exchange } from '#exchange/exchange.ts'
import type { Answer } from '#exchange/outcome.ts'
import { encodeGrpcMessage } from '#net/grpc/status-fields.ts'
import { Head } from '#net/http/head.ts'
import { isGrpcRequest } from '#net/http/request-rules.ts'
import type { ImmediateResponse } from './messages.ts'
import { editFields } from './mutate-head.ts'

const NO_BYTES = new Uint8Array(0)

/** The response that the processor wants the client to get. @returns undefined if its status is none */
export function immediateAnswer(response: ImmediateResponse, exchange: Exchange): Answer | undefined {
  const { status, headers, body = NO_BYTES, grpcStatus } = response
  const code = status?.code ?? 200
  if (code < 200 || code > 599) return undefined
  if (isGrpcRequest(exchange.request)) return grpcAnswer(code, response)
  const head = Head.response(code)
  if (body.length > 0) head.set('content-type', 'text/plain')
  if (grpcStatus !== undefined) head.set('grpc-status', String(grpcStatus.status ?? 0))
  editFields(head, headers)
  return { kind: 'answer', head, body }
}

/** gRPC clients read only `grpc-status` (docs/behaviour/http.md, "Refusals"). */
function grpcAnswer(code: number, { headers, body = NO_BYTES, grpcStatus }: ImmediateResponse): Answer {
  const head = Head.response(200)
  const status = grpcStatus?.status ?? (code === 200 ? 0 : grpcStatusOf('ext-proc-failed', code))
  editFields(head, headers)
  head.set('content-type', 'application/grpc')
  head.set('grpc-status', String(status))
  head.set('grpc-message', encodeGrpcMessage(new TextDecoder().decode(body)))
  return { kind: 'answer', head, body: undefined }
}
