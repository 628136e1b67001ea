import type { EndedCall } from '#exchange/call.ts'
import type { Callout, GuardCheck } from '#exchange/exchange.ts'
import type { Ended } from '../ended.ts'
import type { MetricsWriter } from './metrics-writer.ts'

/** Custom labels of a request. */
type Custom = Pick<Ended, 'customNames' | 'customValues'>

const NONE: readonly string[] = Object.freeze([])
const WITHOUT_REQUEST: Custom = { customNames: NONE, customValues: NONE }

/** Counts a call of the gateway itself, with its duration. @param custom of the request that caused it */
export function observeCall(writer: MetricsWriter, call: EndedCall, custom = WITHOUT_REQUEST): void {
  const { purpose, backend, durationMs } = call
  const labels = [purpose, backend, outcomeOf(call), ...custom.customValues]
  writer.series('calls', labels, custom.customNames).observe(durationMs / 1000)
}

/** Counts the decisions of servers that policies asked about a request. */
export function observeCallouts(writer: MetricsWriter, callouts: readonly Callout[], custom: Custom): void {
  for (const { policy, backend, verdict, cached } of callouts) {
    const labels = [policy, backend, verdict, `${cached}`, ...custom.customValues]
    writer.series('callouts', labels, custom.customNames).add(1)
  }
}

/** Counts the checks of prompt guards, and measures those that took time by themselves. */
export function observeGuards(writer: MetricsWriter, checks: readonly GuardCheck[], custom: Custom): void {
  const { customNames, customValues } = custom
  for (const { phase, kind, verdict, count, durationMs, isReused } of checks) {
    if (isReused) continue
    writer.series('guardChecks', [phase, kind, verdict, ...customValues], customNames).add(count)
    const duration = writer.series('guardDuration', [kind, phase, ...customValues], customNames)
    for (let each = 0; each < count; each++) duration.observe(durationMs / count / 1000)
  }
}

/** Why the response is missing or incomplete, else its gRPC status, else the class of its status: servers choose statuses freely. */
function outcomeOf({ status, grpcStatus, failure }: EndedCall): string {
  return failure ?? grpcStatus ?? `${Math.floor(status! / 100)}xx`
}
