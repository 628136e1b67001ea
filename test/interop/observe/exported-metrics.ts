import type { Received } from '../../support/collector.ts'
import { eventually } from '../../support/eventually.ts'
import { routeYaml } from '../../support/objects-folder.ts'
import { startFrontWith } from '../front.ts'
import type { Transcript } from '../transcript.ts'
import { startRealCollector } from './real-collector.ts'

interface Points {
  readonly dataPoints: readonly { readonly asDouble?: number; readonly count?: string }[]
  readonly aggregationTemporality: string
  readonly isMonotonic?: boolean
}

/** Metrics arrive at the OpenTelemetry Collector over both protocols. */
export async function checkExportedMetrics(transcript: Transcript, stops: AsyncDisposableStack): Promise<void> {
  const { grpcPort, httpPort, passed } = await startRealCollector(stops)
  const endpoints = {
    grpc: `http://127.0.0.1:${grpcPort}`,
    'http/protobuf': `http://127.0.0.1:${httpPort}/v1/metrics`,
  }
  for (const [protocol, endpoint] of Object.entries(endpoints)) {
    const environment = {
      OTEL_EXPORTER_OTLP_METRICS_ENDPOINT: endpoint,
      OTEL_EXPORTER_OTLP_METRICS_PROTOCOL: protocol,
      OTEL_METRIC_EXPORT_INTERVAL: '1000',
      POD_NAME: protocol,
    }
    const front = await startFrontWith(environment, stops, routeYaml('all', '/', 'echo'))
    await (await front.ask('/a')).text()
    const isOwn = ({ resource }: Received) => resource['k8s.pod.name'] === protocol
    const found = (name: string, matches: (points: Points) => boolean, of: 'sum' | 'histogram') =>
      eventually(`${name} over ${protocol}`, () =>
        passed.find((one) => isOwn(one) && one.item.name === name && matches(one.item[of] as unknown as Points)),
      )
    const sum = await found('gatewright_requests', ({ dataPoints }) => dataPoints[0]?.asDouble === 1, 'sum')
    const histogram = await found(
      'gatewright_request_duration_seconds',
      ({ dataPoints }) => dataPoints[0]?.count === '1',
      'histogram',
    )
    const { aggregationTemporality, isMonotonic } = sum.item.sum as unknown as Points
    transcript.check(
      `${protocol}: the counter of requests`,
      [aggregationTemporality, isMonotonic],
      ['AGGREGATION_TEMPORALITY_CUMULATIVE', true],
    )
    transcript.check(`${protocol}: the durations of requests`, histogram.item.unit, 's')
    transcript.check(`${protocol}: the resource of metrics`, sum.resource['service.name'], 'gatewright')
  }
}
