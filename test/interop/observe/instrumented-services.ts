import { join } from 'node:path'
import { backendYaml, routeYaml } from '../../support/objects-folder.ts'
import { policyYaml } from '../../support/policy-yaml.ts'
import { installedNpmPackages, startPrintingServer } from '../counterparts.ts'
import { proxyBackend, startFront } from '../front.ts'

const PACKAGES = [
  '@opentelemetry/api@1.10.0',
  '@opentelemetry/sdk-node@0.301.0',
  '@opentelemetry/instrumentation-http@0.301.0',
  '@opentelemetry/exporter-trace-otlp-proto@0.301.1',
]

/** Where spans are sent. */
export interface SpanServer {
  /** URL for the services, over HTTP. */
  readonly url: string
  /** For the gateway. */
  readonly port: number
  readonly protocol: 'GRPC' | 'HTTP'
}

/** The spans of one trace, each the child of the one before. */
export const CHAIN = ['first SERVER', 'first CLIENT', 'gatewright SERVER', 'gatewright CLIENT', 'second SERVER']

/** An instrumented service asks another one through the gateway. Both have exported their spans when it returns. @returns status and body */
export async function askThroughGateway(
  stops: AsyncDisposableStack,
  { url, port, protocol }: SpanServer,
): Promise<{ readonly status: number; readonly text: string }> {
  const packages = installedNpmPackages('observe-node', ...PACKAGES)
  const startService = async (name: string) => {
    const environment = { PACKAGES: packages, NAME: name, TRACES: url }
    return await startPrintingServer(process.execPath, {
      words: [join(import.meta.dirname, 'service.ts')],
      environment,
    })
  }
  const first = await startService('first')
  const second = await startService('second')
  const tracing = { backendRef: proxyBackend('collector'), protocol }
  const front = await startFront(
    stops,
    backendYaml('second', second.port),
    routeYaml('second', '/', 'second'),
    backendYaml('collector', port),
    policyYaml('observed', 'Gateway', 'main', { frontend: { tracing } }),
  )
  const next = encodeURIComponent(`http://127.0.0.1:${front.port}/hello`)
  const response = await fetch(`http://127.0.0.1:${first.port}/?next=${next}`)
  const text = await response.text()
  // They export what they have when they end.
  await first[Symbol.asyncDispose]()
  await second[Symbol.asyncDispose]()
  return { status: response.status, text }
}
