import { clock } from '#base/clock.ts'
import type { CallPurpose, EndedCall } from '#exchange/call.ts'
import type { Callout, GuardCheck } from '#exchange/exchange.ts'
import type { Ended } from '../ended.ts'
import { Exemplar } from './exemplar.ts'
import type { MetricsWriter } from './metrics-writer.ts'

/** Custom labels of a request, and its span. */
type Custom = Pick<Ended, 'customNames' | 'customValues' | 'exemplar'>

const NONE: readonly string[] = Object.freeze([])
const WITHOUT_REQUEST: Custom = { customNames: NONE, customValues: NONE, exemplar: undefined }

/** What a call is by the labels of `upstream_call_duration_seconds`; exports of telemetry are for no request. */
const KINDS: Readonly<Record<Exclude<CallPurpose, 'telemetry'>, readonly [kind: string, subtype: string]>> = {
  mcp: ['Primary', 'Mcp'],
  models: ['Primary', 'Llm'],
  mirror: ['Mirror', 'Http'],
  authorization: ['Policy', 'ExtAuthz'],
  processing: ['Policy', 'ExtProc'],
  guard: ['Policy', 'Guardrail'],
  'rate-limit': ['Policy', 'RateLimit'],
  'sign-in': ['Policy', 'Oidc'],
  'key-set': ['Policy', 'KeySet'],
}

/** Counts a call of the gateway itself, with its duration. @param custom of the request that caused it */
export function observeCall(writer: MetricsWriter, call: EndedCall, custom = WITHOUT_REQUEST): void {
  const { purpose, backend, durationMs } = call
  const { customNames, customValues } = custom
  const exemplar = spanOf(call)
  const outcome = outcomeOf(call)
  writer.series('calls', [purpose, backend, outcome, ...customValues], customNames).observe(durationMs / 1000, exemplar)
  if (purpose === 'telemetry') return
  writer.series('upstreamCalls', [...KINDS[purpose], ...customValues], customNames).observe(durationMs / 1000, exemplar)
}

/** Counts the decisions of servers that policies asked about a request. */
export function observeCallouts(writer: MetricsWriter, callouts: readonly Callout[], custom: Custom): void {
  for (const { policy, backend, verdict, cached } of callouts) {
    const labels = [policy, backend, verdict, `${cached}`, ...custom.customValues]
    writer.series('callouts', labels, custom.customNames).add(1, custom.exemplar)
  }
}

/** Counts the checks of prompt guards, and measures those that took time by themselves. */
export function observeGuards(writer: MetricsWriter, checks: readonly GuardCheck[], custom: Custom): void {
  const { customNames, customValues, exemplar } = custom
  for (const { phase, kind, verdict, count, durationMs, isReused } of checks) {
    if (isReused) continue
    writer.series('guardChecks', [phase, kind, verdict, ...customValues], customNames).add(count, exemplar)
    const duration = writer.series('guardDuration', [kind, phase, ...customValues], customNames)
    for (let each = 0; each < count; each++) duration.observe(durationMs / count / 1000, exemplar)
  }
}

/** A call has a span of its own. */
function spanOf({ span }: EndedCall): Exemplar | undefined {
  return span && new Exemplar({ traceId: span.of.traceId, spanId: span.spanId }, clock.now())
}

/** Why the response is missing or incomplete, else its gRPC status, else the class of its status: servers choose statuses freely. */
function outcomeOf({ status, grpcStatus, failure }: EndedCall): string {
  return failure ?? grpcStatus ?? `${Math.floor(status! / 100)}xx`
}
