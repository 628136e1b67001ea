import type { Exchange } from '#exchange/exchange.ts'
import type { LiveEndpoint } from '../backend/live-backend.ts'

/** What an endpoint answered, and after how long. `status` undefined: it did not answer. */
export interface Answered {
  readonly status: number | undefined
  readonly latencyMs: number
}

/**
 * Judges an endpoint by one answer (decision A-99). No answer is unhealthy whatever the condition says. An error that the condition
 * takes for healthy may come faster than any answer: it tells nothing about latency.
 * @returns whether it is healthy, as far as its head tells
 */
export function recordAnswer(
  { health, isUnhealthy }: Pick<LiveEndpoint, 'health' | 'isUnhealthy'>,
  exchange: Exchange,
  { status, latencyMs }: Answered,
): boolean {
  if (status === undefined || isUnhealthy(exchange, status)) {
    health.recordUnhealthy()
    return false
  }
  health.recordHealthy(status < 500 ? latencyMs : undefined)
  return true
}
