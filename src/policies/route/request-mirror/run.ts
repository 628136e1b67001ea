import type { Exchange } from '#exchange/exchange.ts'
import { type Outcome, proceed } from '#exchange/outcome.ts'

/** A backend that gets a copy of `numerator` in `denominator` requests. */
export interface Mirror {
  /** Key of the backend. */
  readonly backend: string
  readonly numerator: number
  readonly denominator: number
  /** Of the reference, in the object with the filter. */
  readonly path: string
}

/** Decides which backends get a copy of the request. The copies are sent with the request, after all policies (decision A-52). */
export function chooseMirrors(mirrors: readonly Mirror[], exchange: Exchange): Outcome {
  for (const { backend, numerator, denominator } of mirrors) {
    exchange.trace?.copy(backend, numerator, denominator)
    if (exchange.context.random() * denominator >= numerator) continue
    exchange.mirrors ??= []
    exchange.mirrors.push(backend)
  }
  return proceed
}
