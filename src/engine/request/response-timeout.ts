import type { Exchange } from '#exchange/exchange.ts'
import { isGrpcRequest } from '#net/http/request-rules.ts'
import type { LiveEndpoint } from '../backend/live-backend.ts'

/**
 * Time limit from sending a request to its response head; 0: no limit. A limit of the backend takes precedence over that of the route rule.
 * The default does not apply if the whole request has a limit, nor to gRPC calls, whose response head may wait for the first message.
 */
export function responseTimeout(
  { requestTimeoutMs, defaultTimeoutMs }: Pick<LiveEndpoint, 'requestTimeoutMs' | 'defaultTimeoutMs'>,
  exchange: Pick<Exchange, 'attemptTimeoutMs' | 'requestTimeoutMs' | 'request'>,
): number {
  if (requestTimeoutMs > 0) return requestTimeoutMs
  if (exchange.attemptTimeoutMs !== undefined) return exchange.attemptTimeoutMs
  if (defaultTimeoutMs === 0 || exchange.requestTimeoutMs !== undefined) return 0
  const { request } = exchange
  return request.method === 'POST' && isGrpcRequest(request) ? 0 : defaultTimeoutMs
}
