import type { MetricsExport } from '#observe/otlp/metrics-exporter.ts'
import { type Environment, readVariable } from './environment.ts'
import { UsageError } from './usage-error.ts'

const DEFAULT_INTERVAL_MS = 60_000
const DEFAULT_TIMEOUT_MS = 10_000
/** More would keep the main thread busy. */
const LEAST_INTERVAL_MS = 1000

const FIELD_NAME = /^[!#$%&'*+.^_`|~0-9A-Za-z-]+$/
const FIELD_VALUE = /^[\t\x20-\x7e]*$/

/**
 * Where metrics are exported to, by the variables of OpenTelemetry (OpenTelemetry Protocol Exporter).
 * @returns undefined: nowhere
 * @throws UsageError
 */
export function metricsExport(environment: Environment): MetricsExport | undefined {
  const endpoint = readVariable(environment, 'OTEL_EXPORTER_OTLP_METRICS_ENDPOINT')
  if (endpoint === undefined) return undefined
  const url = URL.parse(endpoint)
  if (url === null || !['http:', 'https:'].includes(url.protocol) || url.username !== '' || url.password !== '')
    throw new UsageError(
      'OTEL_EXPORTER_OTLP_METRICS_ENDPOINT must be a URL with scheme http or https, without user information',
    )
  const protocol = readVariable(environment, 'OTEL_EXPORTER_OTLP_METRICS_PROTOCOL') ?? 'http/protobuf'
  const timeoutMs = Number(readVariable(environment, 'OTEL_EXPORTER_OTLP_METRICS_TIMEOUT') ?? DEFAULT_TIMEOUT_MS)
  const intervalMs = Number(readVariable(environment, 'OTEL_METRIC_EXPORT_INTERVAL') ?? DEFAULT_INTERVAL_MS)
  if (intervalMs < LEAST_INTERVAL_MS)
    throw new UsageError(
      `OTEL_METRIC_EXPORT_INTERVAL is ${intervalMs}; it must be at least ${LEAST_INTERVAL_MS} milliseconds`,
    )
  const headers = readHeaders(readVariable(environment, 'OTEL_EXPORTER_OTLP_METRICS_HEADERS') ?? '')
  return {
    destination: { url, protocol: protocol === 'grpc' ? 'grpc' : 'http/protobuf', headers, timeoutMs },
    intervalMs,
    identity: { podName: environment.POD_NAME, namespace: environment.NAMESPACE },
  }
}

/** `name=value,name=value`, with percent-encoded values (OpenTelemetry, "Specifying headers via environment variables"). */
function readHeaders(text: string): (readonly [name: string, value: string])[] {
  return text
    .split(',')
    .filter((part) => part.trim() !== '')
    .map((part) => {
      const equals = part.indexOf('=')
      const name = part.slice(0, Math.max(equals, 0)).trim().toLowerCase()
      const value = decode(part.slice(equals + 1).trim())
      // Values are credentials, so the message has none.
      if (!FIELD_NAME.test(name) || value === undefined || !FIELD_VALUE.test(value))
        throw new UsageError(
          'OTEL_EXPORTER_OTLP_METRICS_HEADERS must be a list such as name=value,name=value, with percent-encoded values',
        )
      return [name, value] as const
    })
}

function decode(text: string): string | undefined {
  try {
    return decodeURIComponent(text)
  } catch {
    return undefined
  }
}
