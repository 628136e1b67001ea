import type { MetricsFormat } from '#observe/metrics/write-family.ts'
import { acceptedFormat } from './accepted-format.ts'
import { indexPage } from './index-page.ts'
import { type Endpoint, type RunningServer, startSmallServer } from './small-server.ts'

export interface MetricsServerOptions {
  readonly host: string
  readonly port: number
  readonly inherited?: number | undefined
  /** Called at every scrape. */
  readonly metricsText: (format: MetricsFormat) => string
  readonly reportBug: (error: unknown) => void
}

const PURPOSE = 'This port of the gateway serves metrics for Prometheus. It carries no traffic.'
const PATHS = [
  {
    path: '/metrics',
    method: 'GET',
    about: 'All metrics, as OpenMetrics for scrapers that ask for it, otherwise in the Prometheus text format.',
  },
  { path: '/stats/prometheus', method: 'GET', about: 'The same.' },
]

const CONTENT_TYPES: Readonly<Record<MetricsFormat, string>> = {
  classic: 'text/plain; version=0.0.4; charset=utf-8',
  openmetrics: 'application/openmetrics-text; version=1.0.0; charset=utf-8',
}

/**
 * Starts the server for `/metrics`, with an alias for scrapers that use another path.
 * @throws PortInUse
 */
export function startMetricsServer({ metricsText, ...options }: MetricsServerOptions): Promise<RunningServer> {
  const scrape: Endpoint = {
    method: 'GET',
    answer(_, { accept }) {
      const format = acceptedFormat(accept)
      return { status: 200, contentType: CONTENT_TYPES[format], body: metricsText(format), headers: { vary: 'accept' } }
    },
  }
  const index: Endpoint = { method: 'GET', answer: () => indexPage('Gatewright metrics', PURPOSE, PATHS) }
  return startSmallServer({
    ...options,
    purpose: 'metrics',
    variable: 'GATEWRIGHT_STATS_ADDR',
    endpoints: { '/': index, '/metrics': scrape, '/stats/prometheus': scrape },
  })
}
