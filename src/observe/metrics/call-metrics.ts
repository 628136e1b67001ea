import type { EndedCall } from '#exchange/call.ts'
import type { MetricsWriter } from './metrics-writer.ts'

/** Counts a call of the gateway itself, with its duration. */
export function observeCall(writer: MetricsWriter, { purpose, backend, status, failure, durationMs }: EndedCall): void {
  writer.series('calls', [purpose, backend, outcomeOf(status, failure)]).observe(durationMs / 1000)
}

/** Why the response is missing or incomplete, else the class of its status: servers choose statuses freely. */
function outcomeOf(status: EndedCall['status'], failure: EndedCall['failure']): string {
  return failure ?? `${Math.floor(status! / 100)}xx`
}
