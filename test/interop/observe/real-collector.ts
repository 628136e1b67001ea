import { spawnSync } from 'node:child_process'
import { writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { type Collector, startCollector } from '../../support/collector.ts'
import { eventually } from '../../support/eventually.ts'
import { freePort } from '../../support/free-port.ts'
import { createObjectsFolder } from '../../support/objects-folder.ts'
import { builtGoProgram, type Running, startServer } from '../counterparts.ts'

const GO = join(import.meta.dirname, 'go')

/** The OpenTelemetry Collector, which passes everything on to a server that decodes it with the official definitions. */
export interface RealCollector {
  readonly grpcPort: number
  readonly httpPort: number
  readonly passed: Collector['received']
}

/** @returns what the Collector says against a configuration; '' if it is valid */
export function validateCollectorConfiguration(file: string): string {
  const { status, stderr } = spawnSync(builtGoProgram(GO, 'collector'), ['validate', '--config', `file:${file}`])
  return status === 0 ? '' : String(stderr)
}

/** @param scraped port whose `/metrics` it scrapes; undefined: none */
export async function startRealCollector(stops: AsyncDisposableStack, scraped?: number): Promise<RealCollector> {
  const program = builtGoProgram(GO, 'collector')
  const sink = stops.use(await startCollector())
  const [grpcPort, httpPort] = [await freePort(), await freePort()]
  const at = (port: number) => ({ endpoint: `127.0.0.1:${port}` })
  const scrape = {
    job_name: 'gateway',
    scrape_interval: '1s',
    static_configs: [{ targets: [`127.0.0.1:${scraped}`] }],
  }
  const settings = {
    receivers: {
      otlp: { protocols: { grpc: at(grpcPort), http: at(httpPort) } },
      ...(scraped !== undefined && { prometheus: { config: { scrape_configs: [scrape] } } }),
    },
    exporters: {
      otlphttp: {
        endpoint: `http://127.0.0.1:${sink.httpPort}`,
        compression: 'none',
        sending_queue: { enabled: false },
      },
    },
    service: {
      telemetry: { metrics: { level: 'none' } },
      pipelines: {
        logs: { receivers: ['otlp'], exporters: ['otlphttp'] },
        traces: { receivers: ['otlp'], exporters: ['otlphttp'] },
        metrics: { receivers: [scraped === undefined ? 'otlp' : 'prometheus'], exporters: ['otlphttp'] },
      },
    },
  }
  const folder = await createObjectsFolder({})
  stops.defer(folder.remove)
  const file = join(folder.path, 'collector.yaml')
  // JSON is YAML, too.
  writeFileSync(file, JSON.stringify(settings))
  const running: Running = stops.use(startServer(program, { words: ['--config', `file:${file}`] }))
  await eventually('the collector', async () => {
    if (running.process.exitCode !== null) throw new Error(running.complaints())
    const response = await fetch(`http://127.0.0.1:${httpPort}/v1/logs`, { method: 'POST' }).catch(() => undefined)
    return response === undefined ? undefined : true
  })
  return { grpcPort, httpPort, passed: sink.received }
}
