import type { Exchange } from '#exchange/exchange.ts'
import { isGrpcRequest } from '#net/http/request-rules.ts'
import type { LiveEndpoint } from '../backend/live-backend.ts'

/**
 * From sending a request to its response head; 0: no limit. A limit of the whole request makes the default needless, and calls of
 * gRPC may be answered when there is something to say.
 */
export function responseTimeout(
  { requestTimeoutMs, defaultTimeoutMs }: Pick<LiveEndpoint, 'requestTimeoutMs' | 'defaultTimeoutMs'>,
  exchange: Pick<Exchange, 'requestTimeoutMs' | 'request'>,
): number {
  if (requestTimeoutMs > 0 || defaultTimeoutMs === 0) return requestTimeoutMs
  if (exchange.requestTimeoutMs !== undefined) return 0
  const { request } = exchange
  return request.method === 'POST' && isGrpcRequest(request) ? 0 : defaultTimeoutMs
}
