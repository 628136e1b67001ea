import type { Exchange } from './exchange.ts'
import type { Outcome } from './outcome.ts'

/**
 * A request step; synchronous whenever possible. After `exchange.context.signal` is aborted, a promise of a step must not settle, and the
 * step must not use the exchange. `afterwards` ensures both.
 */
export type Step = (exchange: Exchange) => Outcome | Promise<Outcome>

/** A response step, on the head (and on the body if the policy reads it). It cannot refuse, but it can replace the response. */
export type ResponseStep = (exchange: Exchange) => Outcome

/**
 * Continues a request when a promise settles, unless the request has been abandoned.
 * @param go decides with the result
 */
export function afterwards<T, Then extends Outcome>(
  exchange: Exchange,
  pending: Promise<T>,
  go: (value: T) => Then | Promise<Then>,
): Promise<Then> {
  const { signal } = exchange.context
  return new Promise((resolve, reject) => {
    const fail = (error: unknown) => {
      if (!signal.aborted) reject(error)
    }
    pending
      .then((value) => {
        if (!signal.aborted) resolve(go(value))
      })
      .catch(fail)
  })
}
