import type { Exchange } from './exchange.ts'
import type { Outcome } from './outcome.ts'

/**
 * Work on the request; synchronous whenever it can be. A promise of a step must not settle once `exchange.context.signal` is aborted,
 * nor must the step touch the exchange then: it may belong to another request. `afterwards` sees to both.
 */
export type Step = (exchange: Exchange) => Outcome | Promise<Outcome>

/** Work on the response head (and its body where the policy asked for it); cannot refuse, but may replace the answer. */
export type ResponseStep = (exchange: Exchange) => Outcome

/**
 * Goes on with a request when what it waits for has come; never, when nobody waits for the request any more.
 * @param go decides with what has come
 */
export function afterwards<T>(
  exchange: Exchange,
  pending: Promise<T>,
  go: (value: T) => Outcome | Promise<Outcome>,
): Promise<Outcome> {
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
