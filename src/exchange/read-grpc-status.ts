import type { Exchange } from './exchange.ts'

/**
 * The status of a gRPC call: in the head of an answer that is a head alone, else in the fields behind the body, known when that
 * has ended.
 */
export function readGrpcStatus({ response, trailers }: Exchange): number | undefined {
  const text = trailers?.get('grpc-status') ?? response?.get('grpc-status')
  return text === undefined || !/^\d{1,3}$/.test(text) ? undefined : Number(text)
}
