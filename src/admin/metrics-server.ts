import { indexPage } from './index-page.ts'
import { type Endpoint, type RunningServer, startSmallServer } from './small-server.ts'

export interface MetricsServerOptions {
  readonly host: string
  readonly port: number
  /** Prometheus text format, version 0.0.4; called at every scrape. */
  readonly metricsText: () => string
  readonly reportBug: (error: unknown) => void
}

const PURPOSE = 'This port of the gateway serves metrics for Prometheus. It carries no traffic.'
const PATHS = [
  { path: '/metrics', method: 'GET', about: 'All metrics, in the Prometheus text format.' },
  { path: '/stats/prometheus', method: 'GET', about: 'The same.' },
]

/**
 * Starts the server for `/metrics`, with an alias for scrapers that use another path.
 * @throws PortInUse
 */
export function startMetricsServer({ metricsText, ...options }: MetricsServerOptions): Promise<RunningServer> {
  const scrape: Endpoint = {
    method: 'GET',
    answer: () => ({ status: 200, contentType: 'text/plain; version=0.0.4; charset=utf-8', body: metricsText() }),
  }
  const index: Endpoint = { method: 'GET', answer: () => indexPage('Gatewright metrics', PURPOSE, PATHS) }
  return startSmallServer({
    ...options,
    purpose: 'metrics',
    endpoints: { '/': index, '/metrics': scrape, '/stats/prometheus': scrape },
  })
}
