import { Head } from '#net/http/head.ts'
import { isGrpcRequest } from '#net/http/request-rules.ts'
import { isGrpcResponse } from '#net/http/response-rules.ts'
import type { ClientStream } from '#net/stream.ts'
import type { InFlight } from './in-flight.ts'

/** The fields with the status of a call (gRPC over HTTP/2, "Responses"). */
const STATUS_FIELDS = ['grpc-status', 'grpc-message', 'grpc-status-details-bin']

/**
 * Moves the gRPC status to the trailers. A trailers-only response has it in the head; if a policy adds a body, clients expect it after the
 * body.
 * @param head response head; the fields are removed from it
 * @returns the trailers; undefined if the head does not change
 */
export function takeGrpcStatus({ exchange, stream }: InFlight, head: Head): Head | undefined {
  if (!head.has('grpc-status') || stream.version !== '2' || !isGrpcRequest(exchange.request)) return undefined
  const trailers = new Head()
  for (const name of STATUS_FIELDS) {
    const value = head.get(name)
    if (value === undefined) continue
    trailers.append(name, value)
    head.remove(name)
  }
  exchange.trailers = trailers
  return trailers
}

/**
 * Whether a response to a gRPC call has ended without the status that ends every call (gRPC over HTTP/2, "Responses"): its server broke off, and
 * some HTTP libraries end the stream first. Other HTTP responses to a call have a status that clients map.
 */
export function lacksGrpcStatus({ exchange }: InFlight, { head, trailers = exchange.trailers }: ClientStream): boolean {
  if (trailers?.has('grpc-status') === true || head.status !== 200 || !isGrpcResponse(head)) return false
  return exchange.request.method === 'POST' && isGrpcRequest(exchange.request) && !head.has('grpc-status')
}
