import type { EndedCall } from '#exchange/call.ts'
import type { Callout } from '#exchange/exchange.ts'
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

/** Why the response is missing or incomplete, else its gRPC status, else the class of its status: servers choose statuses freely. */
function outcomeOf({ status, grpcStatus, failure }: EndedCall): string {
  return failure ?? grpcStatus ?? `${Math.floor(status! / 100)}xx`
}
