import type { Received } from '../../support/collector.ts'
import { eventually } from '../../support/eventually.ts'
import { freePort } from '../../support/free-port.ts'
import { backendYaml, routeYaml } from '../../support/objects-folder.ts'
import { policyYaml } from '../../support/policy-yaml.ts'
import { frontendYaml, idsOf } from '../../support/traced-gateway.ts'
import { proxyBackend, startFront } from '../front.ts'
import type { Transcript } from '../transcript.ts'
import { startRealCollector } from './real-collector.ts'

/** Log entries and spans arrive at the OpenTelemetry Collector over both protocols. */
export async function checkExports(transcript: Transcript, stops: AsyncDisposableStack): Promise<void> {
  const { grpcPort, httpPort, passed } = await startRealCollector(stops)
  const settings = (name: string, protocol: string) => {
    const server = { backendRef: proxyBackend(name), protocol }
    return { accessLog: { otlp: server }, tracing: { ...server, randomSampling: 'true' } }
  }
  const webPort = await freePort()
  const front = await startFront(
    stops,
    routeYaml('all', '/', 'echo'),
    backendYaml('over-grpc', grpcPort),
    backendYaml('over-http', httpPort),
    policyYaml('observed', 'Gateway', 'main', { frontend: settings('over-grpc', 'GRPC') }),
    frontendYaml('web', webPort, settings('over-http', 'HTTP')),
  )
  await (await front.ask('/grpc?q=1')).text()
  await (await fetch(`http://127.0.0.1:${webPort}/http?q=1`)).text()
  for (const protocol of ['grpc', 'http']) {
    const found = (what: string, matches: (one: Received) => boolean) =>
      eventually(`${what} over ${protocol}`, () => passed.find(matches))
    const entry = await found('an entry', (one) => one.attributes['http.path'] === `/${protocol}?q=1`)
    const isServer = ({ item }: Received) => item.kind === 'SPAN_KIND_SERVER'
    const span = await found('a span', (one) => isServer(one) && one.attributes['url.path'] === `/${protocol}`)
    const ids = idsOf(span)
    const attempt = await found('its attempt', (one) => idsOf(one).parent === ids.span)
    transcript.check(
      `${protocol}: the entry`,
      [entry.attributes['http.status'], entry.item.severityText],
      [200, 'INFO'],
    )
    transcript.check(
      `${protocol}: it belongs to the span`,
      [idsOf(entry).trace, idsOf(entry).span],
      [ids.trace, ids.span],
    )
    transcript.check(
      `${protocol}: the span`,
      [span.item.name, span.attributes['http.response.status_code']],
      ['GET /*', 200],
    )
    transcript.check(
      `${protocol}: the attempt`,
      [attempt.item.kind, idsOf(attempt).trace],
      ['SPAN_KIND_CLIENT', ids.trace],
    )
    transcript.check(`${protocol}: the resource`, span.resource['service.name'], 'gatewright')
  }
}
