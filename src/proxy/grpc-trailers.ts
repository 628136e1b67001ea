import { Head } from '#net/http/head.ts'
import { isGrpcRequest } from '#net/http/request-rules.ts'
import type { InFlight } from './in-flight.ts'

/** What says how a call has ended (gRPC over HTTP/2, "Responses"). */
const STATUS_FIELDS = ['grpc-status', 'grpc-message', 'grpc-status-details-bin']

/**
 * A call that is answered by its status alone has it in the head. Clients look for it behind the body when there is one, so that is
 * where it goes when a policy adds one.
 * @param head the head of the response, which loses these fields
 * @returns the fields to send behind the body; undefined: the head is as it should be
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
