import type { EndedCall } from '#exchange/call.ts'
import type { Callout, GuardCheck } from '#exchange/exchange.ts'
import type { MetricsWriter } from './metrics-writer.ts'

/** Counts a call of the gateway itself, with its duration. */
export function observeCall(writer: MetricsWriter, call: EndedCall): void {
  const { purpose, backend, durationMs } = call
  writer.series('calls', [purpose, backend, outcomeOf(call)]).observe(durationMs / 1000)
}

/** Counts the decisions of servers that policies asked about a request. */
export function observeCallouts(writer: MetricsWriter, callouts: readonly Callout[]): void {
  for (const { policy, backend, verdict, cached } of callouts) {
    writer.series('callouts', [policy, backend, verdict, `${cached}`]).add(1)
  }
}

/** Counts the checks of prompt guards, and measures those that took time by themselves. */
export function observeGuards(writer: MetricsWriter, checks: readonly GuardCheck[]): void {
  for (const { phase, kind, verdict, count, durationMs, isReused } of checks) {
    if (isReused) continue
    writer.series('guardChecks', [phase, kind, verdict]).add(count)
    const duration = writer.series('guardDuration', [kind, phase])
    for (let each = 0; each < count; each++) duration.observe(durationMs / count / 1000)
  }
}

/** Why the response is missing or incomplete, else its gRPC status, else the class of its status: servers choose statuses freely. */
function outcomeOf({ status, grpcStatus, failure }: EndedCall): string {
  return failure ?? grpcStatus ?? `${Math.floor(status! / 100)}xx`
}
