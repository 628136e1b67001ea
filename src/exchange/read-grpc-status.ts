import type { Exchange } from './exchange.ts'

/** The status of a gRPC call: from the head of a trailers-only response, else from the trailers after the body has ended. */
export function readGrpcStatus({ response, trailers }: Exchange): number | undefined {
  const text = trailers?.get('grpc-status') ?? response?.get('grpc-status')
  return text === undefined || !/^\d{1,3}$/.test(text) ? undefined : Number(text)
}
