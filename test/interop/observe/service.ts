import type * as Http from 'node:http'
import { createRequire } from 'node:module'
import type { AddressInfo } from 'node:net'

/**
 * A service with the instrumentation of OpenTelemetry. It prints its port. `GET /?next=URL` asks that URL, and returns what it says. Environment:
 * `PACKAGES` is the folder of the instrumentation, `NAME` the name of the service, `TRACES` the URL for its spans.
 */

interface Sdk {
  start(): void
  shutdown(): Promise<void>
}

const { PACKAGES, NAME = '', TRACES = '' } = process.env
const load = createRequire(`${PACKAGES}/`)
const { NodeSDK } = load('@opentelemetry/sdk-node') as { NodeSDK: new (options: object) => Sdk }
const { HttpInstrumentation } = load('@opentelemetry/instrumentation-http') as { HttpInstrumentation: new () => object }
const { OTLPTraceExporter } = load('@opentelemetry/exporter-trace-otlp-proto') as {
  OTLPTraceExporter: new (options: object) => object
}

const traceExporter = new OTLPTraceExporter({ url: TRACES })
const sdk = new NodeSDK({ serviceName: NAME, traceExporter, instrumentations: [new HttpInstrumentation()] })
sdk.start()

// The instrumentation changes the module while it is loaded.
const http = load('node:http') as typeof Http
const server = http.createServer((request, response) => {
  const next = new URL(request.url ?? '/', 'http://service').searchParams.get('next')
  if (next === null) return void response.end(`${NAME} got ${request.headers.traceparent}`)
  http.get(next, (answer) => void answer.pipe(response)).on('error', () => response.writeHead(502).end())
})
server.listen(0, '127.0.0.1', () => console.log((server.address() as AddressInfo).port))
process.once('SIGTERM', () => void sdk.shutdown().finally(() => process.exit(0)))
