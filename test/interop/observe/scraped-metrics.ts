import { join } from 'node:path'
import { eventually } from '../../support/eventually.ts'
import { routeYaml } from '../../support/objects-folder.ts'
import { startFront } from '../front.ts'
import type { Transcript } from '../transcript.ts'
import { startRealCollector, validateCollectorConfiguration } from './real-collector.ts'

const CONFIGURATION = join(import.meta.dirname, '..', '..', '..', 'install', 'observability', 'otel-collector.yaml')

/** The Collector scrapes the metrics of the gateway and passes them on over OTLP. */
export async function checkScrapedMetrics(transcript: Transcript, stops: AsyncDisposableStack): Promise<void> {
  transcript.check('the configuration in install/ is valid', validateCollectorConfiguration(CONFIGURATION), '')
  const front = await startFront(stops, routeYaml('all', '/', 'echo'))
  for (let i = 0; i < 3; i++) await (await front.ask('/x')).text()
  const { passed } = await startRealCollector(stops, Number(new URL(front.gateway.url(15_020)).port))
  const metric = (name: string) =>
    eventually(name, () => passed.find(({ signal, item }) => signal === 'metrics' && item.name === name))
  const requests = (await metric('gatewright_requests_total')).item as {
    readonly sum?: { readonly isMonotonic?: boolean; readonly dataPoints: readonly { readonly asDouble?: number }[] }
  }
  transcript.check('a counter', [requests.sum?.isMonotonic, requests.sum?.dataPoints[0]?.asDouble], [true, 3])
  const duration = (await metric('gatewright_request_duration_seconds')).item as {
    readonly histogram?: { readonly dataPoints: readonly { readonly count?: string }[] }
  }
  transcript.check('a histogram', duration.histogram?.dataPoints[0]?.count, '3')
}
