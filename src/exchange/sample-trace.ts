import { numberIn } from '#base/exact-json.ts'
import type { Json } from '#base/json.ts'
import type { Exchange } from './exchange.ts'
import { RequestSpan } from './request-span.ts'
import type { Trace } from './trace.ts'
import { SAMPLED, type TraceContext, traceContext } from './trace-parent.ts'
import type { TracingSettings } from './tracing-settings.ts'

const DIGITS = 8

/** Traces the request if its settings say so. The headers of other requests stay as they are. */
export function sampleTrace(settings: TracingSettings, exchange: Exchange): void {
  const { request, context } = exchange
  const parent = traceContext(request)
  const isSampled = parent === undefined ? samplesNew(settings, exchange) : samplesParent(settings, exchange, parent)
  if (!isSampled) return
  // Without a valid `traceparent` there is nothing that it belongs to (W3C Trace Context, 4.3).
  if (parent === undefined) request.remove('tracestate')
  const span = new RequestSpan(settings, context, parent, request.joined('tracestate') ?? '')
  span.redactedParameters = exchange.redactedParameters
  exchange.span = span
  request.set('traceparent', span.header)
}

function samplesNew({ randomSampling }: TracingSettings, exchange: Exchange): boolean {
  const result = randomSampling?.json(exchange)
  const isSampled = decides(result, () => exchange.context.random())
  if (exchange.trace !== undefined) traceSampling(exchange.trace, 'randomSampling', result, isSampled)
  return isSampled
}

function samplesParent({ clientSampling }: TracingSettings, exchange: Exchange, parent: TraceContext): boolean {
  // Without an expression it is as the sender has decided.
  const result = clientSampling === undefined ? (parent.flags & SAMPLED) !== 0 : clientSampling.json(exchange)
  const isSampled = decides(result, () => shareOf(parent.traceId))
  const decider = clientSampling === undefined ? 'traceparent' : 'clientSampling'
  if (exchange.trace !== undefined) traceSampling(exchange.trace, decider, result, isSampled)
  return isSampled
}

/**
 * A ratio or a decision; anything else, and a failure, is no.
 * @param share 0 (inclusive) to 1 (exclusive)
 */
function decides(result: Json | undefined, share: () => number): boolean {
  if (typeof result === 'boolean') return result
  const ratio = numberIn(result)
  return ratio !== undefined && share() < ratio
}

function traceSampling(trace: Trace, decider: string, result: Json | undefined, isSampled: boolean): void {
  const verdict = isSampled ? 'traced' : 'not traced'
  const detail = `${verdict}: ${shareText(decider, result) ?? `${decider} is ${valueText(decider, result)}`}`
  trace.step({ stage: 'pre-routing', name: 'tracing', verdict: 'proceed', detail, origins: [] })
}

/** Of a ratio between none and all. Without calls, `explain` takes the request for one of the share. */
function shareText(decider: string, result: Json | undefined): string | undefined {
  const ratio = numberIn(result)
  if (ratio === undefined || ratio <= 0 || ratio >= 1) return undefined
  const share = `${Number((ratio * 100).toPrecision(6))}%`
  return decider === 'clientSampling'
    ? `clientSampling traces ${share} of the traces, by their id`
    : `randomSampling traces ${share} of the requests`
}

function valueText(decider: string, result: Json | undefined): string {
  if (decider === 'traceparent') return result === true ? 'sampled' : 'not sampled'
  return result === undefined ? 'unset, or cannot be evaluated' : JSON.stringify(result)
}

/** The random part of a trace id, so that all requests of a trace are treated alike (W3C Trace Context Level 2, 3.2.2.3). */
function shareOf(traceId: string): number {
  return Number.parseInt(traceId.slice(-DIGITS), 16) / 16 ** DIGITS
}
