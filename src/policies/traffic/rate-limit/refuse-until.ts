import type { Exchange } from '#exchange/exchange.ts'
import { type Refusal, reject } from '#exchange/outcome.ts'

/**
 * Refuses a request that must wait. `Retry-After` and the time in the text are rounded up, so that a client that waits so long does not come too
 * early; the wait is at least 1 second.
 * @param limit for the client, such as `10 requests per minute`; undefined: unknown
 */
export function refuseUntil(
  waitSeconds: number,
  limit: string | undefined,
  extras: Partial<Refusal>,
  { context }: Exchange,
): Refusal {
  const end = new Date(Math.ceil(context.now() / 1000 + waitSeconds) * 1000).toISOString().replace('.000', '')
  return reject('rate-limited', {
    ...extras,
    headers: [['retry-after', String(Math.max(1, Math.ceil(waitSeconds)))]],
    limit: limit === undefined ? `wait until ${end}` : `${limit}; wait until ${end}`,
  })
}
