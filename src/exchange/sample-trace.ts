import { numberIn } from '#base/exact-json.ts'
import type { Exchange } from './exchange.ts'
import type { Expression } from './expression.ts'
import { RequestSpan } from './request-span.ts'
import { SAMPLED, traceContext } from './trace-parent.ts'
import type { TracingSettings } from './tracing-settings.ts'

const DIGITS = 8

/** Traces the request if its settings say so (decision A-112). The headers of other requests stay as they are. */
export function sampleTrace(settings: TracingSettings, exchange: Exchange): void {
  const { request, context } = exchange
  const parent = traceContext(request)
  const isSampled =
    parent === undefined
      ? samples(settings.randomSampling, exchange, false, () => context.random())
      : samples(settings.clientSampling, exchange, (parent.flags & SAMPLED) !== 0, () => shareOf(parent.traceId))
  if (!isSampled) return
  // Without a valid `traceparent` there is nothing that it belongs to (W3C Trace Context, 4.3).
  if (parent === undefined) request.remove('tracestate')
  const span = new RequestSpan(settings, context, parent, request.joined('tracestate') ?? '')
  exchange.span = span
  request.set('traceparent', span.header)
}

/**
 * A ratio or a decision; anything else, and a failure, is no.
 * @param unset the result without an expression
 * @param share 0 (inclusive) to 1 (exclusive)
 */
function samples(expression: Expression | undefined, exchange: Exchange, unset: boolean, share: () => number): boolean {
  if (expression === undefined) return unset
  const result = expression.json(exchange)
  if (typeof result === 'boolean') return result
  const ratio = numberIn(result)
  return ratio !== undefined && share() < ratio
}

/** The random part of a trace id, so that all requests of a trace are treated alike (W3C Trace Context Level 2, 3.2.2.3). */
function shareOf(traceId: string): number {
  return Number.parseInt(traceId.slice(-DIGITS), 16) / 16 ** DIGITS
}
