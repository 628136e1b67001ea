import type { Exchange } from '#exchange/exchange.ts'
import type { LiveEndpoint } from '../backend/live-backend.ts'

/** The result of an attempt. `status` undefined: no response. */
export interface Answered {
  readonly status: number | undefined
  readonly latencyMs: number
}

/**
 * Updates the health of an endpoint after one attempt (decision A-99). A missing response is always unhealthy. The latency of an error that
 * the condition accepts is ignored, because errors may be faster than other responses.
 * @returns whether the attempt is healthy, judged by the response head
 */
export function recordAnswer(
  { health, isUnhealthy }: Pick<LiveEndpoint, 'health' | 'isUnhealthy'>,
  exchange: Exchange,
  { status, latencyMs }: Answered,
): boolean {
  if (status === undefined || isUnhealthy(exchange, status)) {
    health.recordUnhealthy(status ?? 'no response')
    return false
  }
  health.recordHealthy(status < 500 ? latencyMs : undefined)
  return true
}
