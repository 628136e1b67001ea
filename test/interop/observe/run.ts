import { runParts } from '../run-parts.ts'
import { checkExports } from './exports.ts'
import { checkScrapedMetrics } from './scraped-metrics.ts'
import { checkTree } from './tree.ts'

/** Checks telemetry of a running gateway with the OpenTelemetry Collector and instrumented services. */
await runParts('interop:observe', {
  exports: checkExports,
  tree: checkTree,
  metrics: checkScrapedMetrics,
})
