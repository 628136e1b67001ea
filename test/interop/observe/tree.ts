import { join } from 'node:path'
import { eventually } from '../../support/eventually.ts'
import { backendYaml, routeYaml } from '../../support/objects-folder.ts'
import { policyYaml } from '../../support/policy-yaml.ts'
import { idsOf } from '../../support/traced-gateway.ts'
import { installedNpmPackages, startPrintingServer } from '../counterparts.ts'
import { proxyBackend, startFront } from '../front.ts'
import type { Transcript } from '../transcript.ts'
import { startRealCollector } from './real-collector.ts'

const PACKAGES = [
  '@opentelemetry/api@1.10.0',
  '@opentelemetry/sdk-node@0.301.0',
  '@opentelemetry/instrumentation-http@0.301.0',
  '@opentelemetry/exporter-trace-otlp-proto@0.301.1',
]

/** A request of an instrumented service to another one through the gateway is one trace, whose spans form a tree. */
export async function checkTree(transcript: Transcript, stops: AsyncDisposableStack): Promise<void> {
  const { grpcPort, httpPort, passed } = await startRealCollector(stops)
  const packages = installedNpmPackages('observe-node', ...PACKAGES)
  const startService = async (name: string) => {
    const environment = { PACKAGES: packages, NAME: name, TRACES: `http://127.0.0.1:${httpPort}/v1/traces` }
    return await startPrintingServer(process.execPath, {
      words: [join(import.meta.dirname, 'service.ts')],
      environment,
    })
  }
  const first = await startService('first')
  const second = await startService('second')
  const front = await startFront(
    stops,
    backendYaml('second', second.port),
    routeYaml('second', '/', 'second'),
    backendYaml('collector', grpcPort),
    policyYaml('observed', 'Gateway', 'main', { frontend: { tracing: { backendRef: proxyBackend('collector') } } }),
  )
  const next = encodeURIComponent(`http://127.0.0.1:${front.port}/hello`)
  const response = await fetch(`http://127.0.0.1:${first.port}/?next=${next}`)
  transcript.check(
    'the second service answers',
    [response.status, (await response.text()).slice(0, 10)],
    [200, 'second got'],
  )
  // They export what they have when they end.
  await first[Symbol.asyncDispose]()
  await second[Symbol.asyncDispose]()
  await eventually('all spans', () => passed.length >= 5 || undefined)
  const chain: string[] = []
  let parent = ''
  for (;;) {
    const child = passed.find((one) => idsOf(one).parent === parent)
    if (child === undefined) break
    parent = idsOf(child).span
    chain.push(`${child.resource['service.name']} ${String(child.item.kind).slice('SPAN_KIND_'.length)}`)
  }
  transcript.check('the spans, each the child of the one before', chain, [
    'first SERVER',
    'first CLIENT',
    'gatewright SERVER',
    'gatewright CLIENT',
    'second SERVER',
  ])
  transcript.check('one trace', [passed.length, new Set(passed.map((one) => idsOf(one).trace)).size], [5, 1])
}
