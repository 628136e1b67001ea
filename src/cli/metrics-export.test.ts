import { expect, test } from 'vitest'
import { metricsExport } from './metrics-export.ts'

const ENDPOINT = { OTEL_EXPORTER_OTLP_METRICS_ENDPOINT: 'https://otlp.test:4318/v1/metrics' }

test('nothing is exported without an endpoint', () => {
  expect(metricsExport({ OTEL_METRIC_EXPORT_INTERVAL: '5000' })).toBeUndefined()
})

test('the defaults of OpenTelemetry', () => {
  expect(metricsExport(ENDPOINT)).toEqual({
    destination: {
      url: new URL('https://otlp.test:4318/v1/metrics'),
      protocol: 'http/protobuf',
      headers: [],
      timeoutMs: 10_000,
    },
    intervalMs: 60_000,
    identity: { podName: undefined, namespace: undefined },
  })
})

test('all settings', () => {
  const found = metricsExport({
    ...ENDPOINT,
    OTEL_EXPORTER_OTLP_METRICS_PROTOCOL: 'grpc',
    OTEL_EXPORTER_OTLP_METRICS_HEADERS: ' Authorization=Bearer%20a%2Cb== , x-tenant=,',
    OTEL_EXPORTER_OTLP_METRICS_TIMEOUT: '500',
    OTEL_METRIC_EXPORT_INTERVAL: '1000',
    POD_NAME: 'p',
    NAMESPACE: 'n',
  })
  expect(found?.destination).toMatchObject({
    protocol: 'grpc',
    headers: [
      ['authorization', 'Bearer a,b=='],
      ['x-tenant', ''],
    ],
    timeoutMs: 500,
  })
  expect([found?.intervalMs, found?.identity]).toEqual([1000, { podName: 'p', namespace: 'n' }])
})

const HEADERS = 'OTEL_EXPORTER_OTLP_METRICS_HEADERS must be a list such as name=value,name=value'
const URL_FORM = 'OTEL_EXPORTER_OTLP_METRICS_ENDPOINT must be a URL with scheme http or https, without user information'

test.each([
  ['OTEL_EXPORTER_OTLP_METRICS_ENDPOINT', 'otlp.test:4318', URL_FORM],
  ['OTEL_EXPORTER_OTLP_METRICS_ENDPOINT', '/v1/metrics', URL_FORM],
  ['OTEL_EXPORTER_OTLP_METRICS_ENDPOINT', 'http://u:hunter22@otlp.test', URL_FORM],
  ['OTEL_EXPORTER_OTLP_METRICS_ENDPOINT', 'http://hunter22@otlp.test', URL_FORM],
  ['OTEL_EXPORTER_OTLP_METRICS_PROTOCOL', 'http/json', 'it must be http/protobuf or grpc'],
  ['OTEL_EXPORTER_OTLP_METRICS_TIMEOUT', '0', 'it must be a number of milliseconds'],
  ['OTEL_EXPORTER_OTLP_METRICS_TIMEOUT', '10s', 'it must be a number of milliseconds'],
  ['OTEL_METRIC_EXPORT_INTERVAL', '999', 'it must be at least 1000 milliseconds'],
  ['OTEL_EXPORTER_OTLP_METRICS_HEADERS', 'hunter22', HEADERS],
  ['OTEL_EXPORTER_OTLP_METRICS_HEADERS', '=hunter22', HEADERS],
  ['OTEL_EXPORTER_OTLP_METRICS_HEADERS', 'a b=hunter22', HEADERS],
  ['OTEL_EXPORTER_OTLP_METRICS_HEADERS', 'a=hunter22%', HEADERS],
  ['OTEL_EXPORTER_OTLP_METRICS_HEADERS', 'a=hunter22%0d%0ab', HEADERS],
] as const)('%s=%s is refused', (name, value, message) => {
  const refused = () => metricsExport({ ...ENDPOINT, [name]: value })
  expect(refused).toThrow(message)
  expect(refused).not.toThrow('hunter22')
})
