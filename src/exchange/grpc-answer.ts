import { decodeGrpcMessage, grpcStatusName } from '#net/grpc/status-fields.ts'
import type { CallResponse } from './call.ts'
import { FailedCall } from './failed-call.ts'

/** Of a message; the default of gRPC. */
export const MAX_MESSAGE_BYTES = 4 * 1024 * 1024

/** Why the head is not that of a gRPC response (gRPC over HTTP/2, "Responses"). */
export function foreignHead(response: CallResponse): string | undefined {
  if (response.status !== 200) return `the server answered ${response.status}`
  const type = response.header('content-type') ?? ''
  return /^application\/grpc(?:[+;]|$)/i.test(type) ? undefined : 'the response is not gRPC'
}

/** The status is in the trailers, or in the head of a response without a body. @returns undefined if it is OK */
export function readStatus(response: CallResponse): FailedCall | undefined {
  const field = (name: string) => response.trailer(name) ?? response.header(name)
  const status = field('grpc-status')
  if (status === undefined) return new FailedCall('response-invalid', 'the response has no grpc-status')
  if (status === '0') return undefined
  const text = decodeGrpcMessage(field('grpc-message') ?? '')
  const name = grpcStatusName(status)
  return new FailedCall('grpc-error', text === '' ? name : `${name}: ${text}`, name)
}
