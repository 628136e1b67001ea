import { runParts } from '../run-parts.ts'
import { checkExportedMetrics } from './exported-metrics.ts'
import { checkExports } from './exports.ts'
import { checkJaeger } from './jaeger.ts'
import { checkPrometheus } from './prometheus.ts'
import { checkScrapedMetrics } from './scraped-metrics.ts'
import { checkTraffic } from './traffic.ts'
import { checkTree } from './tree.ts'

/** Checks telemetry of a running gateway with the OpenTelemetry Collector, instrumented services, Jaeger and Prometheus. */
await runParts('interop:observe', {
  exports: checkExports,
  exported: checkExportedMetrics,
  tree: checkTree,
  jaeger: checkJaeger,
  metrics: checkScrapedMetrics,
  prometheus: checkPrometheus,
  traffic: checkTraffic,
})
