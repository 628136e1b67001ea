import { backendName } from '#exchange/backend-name.ts'
import type { LogMessage } from '#observe/log/application-log.ts'
import type { MetricsWriter } from '#observe/metrics/metrics-writer.ts'
import type { EndpointId } from '#plan/endpoint-key.ts'
import type { Eviction } from '#state/endpoint-health.ts'

/** Counts and logs the evictions that a thread causes, and logs the returns to service that it notices. */
export function evictionReporter(
  metrics: MetricsWriter,
  log: LogMessage,
): (endpoint: EndpointId, eviction: Eviction | undefined) => void {
  return ({ backend, endpoint }, eviction) => {
    const name = backendName(backend)
    if (eviction === undefined)
      return log('proxy', 'info', 'an endpoint is in service again', { backend: name, endpoint })
    const { timeMs, cause, sign } = eviction
    metrics.series('evictions', [name, endpoint]).add(1)
    log('proxy', 'warn', 'an endpoint is evicted', {
      backend: name,
      endpoint,
      seconds: timeMs / 1000,
      cause,
      last: typeof sign === 'number' ? `status ${sign}` : sign,
    })
  }
}
