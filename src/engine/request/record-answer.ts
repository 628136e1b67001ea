import { clock } from '#base/clock.ts'
import type { Exchange } from '#exchange/exchange.ts'
import type { LiveEndpoint } from '../backend/live-backend.ts'

/**
 * Judges an attempt by the head of its response (decision A-99). An unhealthy one is recorded at once; the others count when the response
 * ends (decision B96).
 * @param status undefined: no response, which is always unhealthy
 * @returns whether the attempt is healthy so far
 */
export function judgeHead(
  { health, isUnhealthy }: Pick<LiveEndpoint, 'health' | 'isUnhealthy'>,
  exchange: Exchange,
  status: number | undefined,
): boolean {
  const isHealthy = status !== undefined && !isUnhealthy(exchange, status)
  if (!isHealthy) health.recordUnhealthy(status ?? 'no response')
  return isHealthy
}

/**
 * Records a response that was healthy by its head and is complete. The latency of an error that the condition accepts is ignored, because
 * errors may be faster than other responses.
 * @param sentMs when the request was sent, by the monotonic clock
 */
export function recordComplete({ health }: Pick<LiveEndpoint, 'health'>, status: number, sentMs: number): void {
  health.recordHealthy(status < 500 && !health.alone ? clock.monotonic() - sentMs : undefined)
}
