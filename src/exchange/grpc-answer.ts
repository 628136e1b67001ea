import { FrameReader } from '#net/grpc/message-frame.ts'
import { decodeGrpcMessage, grpcStatusName } from '#net/grpc/status-fields.ts'
import type { CallRequest, CallResponse } from './call.ts'
import { FailedCall } from './failed-call.ts'

/** Of a message; the default of gRPC. */
const MAX_MESSAGE_BYTES = 4 * 1024 * 1024

/** What every gRPC request has. */
export const GRPC_REQUEST = {
  protocol: 'grpc',
  method: 'POST',
  headers: [],
  timeoutMs: 0,
} as const satisfies Partial<CallRequest>

/**
 * Reads a response to its end. Throws `BadFrame`, and what `take` throws; the connection is then given up.
 * @param take receives each message. @returns a promise if the next one must wait
 * @returns undefined: the server ended the call with status OK
 */
export async function readMessages(
  response: CallResponse,
  take: (message: Uint8Array) => Promise<void> | undefined,
): Promise<FailedCall | undefined> {
  const foreign = foreignHead(response)
  if (foreign !== undefined) {
    await response.body[Symbol.asyncIterator]().return?.()
    return new FailedCall('response-invalid', foreign, `${response.status}`)
  }
  const reader = new FrameReader(MAX_MESSAGE_BYTES)
  for await (const piece of response.body) {
    reader.push(piece)
    for (let next = reader.next(); next !== undefined; next = reader.next()) {
      const wait = take(next)
      if (wait !== undefined) await wait
    }
  }
  return reader.atBoundary ? readStatus(response) : new FailedCall('response-invalid', 'the message is incomplete')
}

/** Why the head is not that of a gRPC response (gRPC over HTTP/2, "Responses"). */
function foreignHead(response: CallResponse): string | undefined {
  if (response.status !== 200) return `the server answered ${response.status}`
  const type = response.header('content-type') ?? ''
  return /^application\/grpc(?:[+;]|$)/i.test(type) ? undefined : 'the response is not gRPC'
}

/** The status is in the trailers, or in the head of a response without a body. @returns undefined if it is OK */
function readStatus(response: CallResponse): FailedCall | undefined {
  const field = (name: string) => response.trailer(name) ?? response.header(name)
  const status = field('grpc-status')
  if (status === undefined) return new FailedCall('response-invalid', 'the response has no grpc-status')
  if (status === '0') return undefined
  const text = decodeGrpcMessage(field('grpc-message') ?? '')
  const name = grpcStatusName(status)
  return new FailedCall('grpc-error', text === '' ? name : `${name}: ${text}`, name)
}
