import { expect, test } from 'vitest'
import { PortInUse } from '#base/listen.ts'
import { startMetricsServer } from './metrics-server.ts'
import { ask, failOnBug } from './testing.ts'

test('both paths give the text of the moment', async () => {
  let scrapes = 0
  const server = await startMetricsServer({
    host: '127.0.0.1',
    port: 0,
    metricsText: () => `scrapes ${++scrapes}\n`,
    reportBug: failOnBug,
  })
  const first = await ask(server.port, '/metrics')
  expect(first).toMatchObject({ status: 200, body: 'scrapes 1\n' })
  expect(first.headers['content-type']).toBe('text/plain; version=0.0.4; charset=utf-8')
  expect((await ask(server.port, '/stats/prometheus')).body).toBe('scrapes 2\n')
  expect((await ask(server.port, '/other')).status).toBe(404)
  await server.close()
})

test('a scraper that asks for OpenMetrics gets it', async () => {
  const server = await startMetricsServer({
    host: '127.0.0.1',
    port: 0,
    metricsText: (format) => `${format}\n`,
    reportBug: failOnBug,
  })
  const accept = 'application/openmetrics-text;version=1.0.0,text/plain;version=0.0.4;q=0.5'
  const { headers, body } = await ask(server.port, '/metrics', { headers: { accept } })
  await server.close()
  expect(body).toBe('openmetrics\n')
  expect(headers).toMatchObject({
    'content-type': 'application/openmetrics-text; version=1.0.0; charset=utf-8',
    vary: 'accept',
  })
})

test('a failure is reported, but not to the scraper', async () => {
  const bugs: unknown[] = []
  const failure = new Error('a secret detail')
  const server = await startMetricsServer({
    host: '127.0.0.1',
    port: 0,
    metricsText() {
      throw failure
    },
    reportBug: (error) => bugs.push(error),
  })
  expect(await ask(server.port, '/metrics')).toMatchObject({ status: 500, body: 'internal error\n' })
  expect(bugs).toEqual([failure])
  await server.close()
})

test('a port in use is named in one line', async () => {
  const options = { host: '127.0.0.1', metricsText: () => '', reportBug: failOnBug }
  const first = await startMetricsServer({ ...options, port: 0 })
  const second = startMetricsServer({ ...options, port: first.port })
  await expect(second).rejects.toBeInstanceOf(PortInUse)
  await expect(second).rejects.toThrow(
    `127.0.0.1:${first.port} is in use; the metrics server needs it unless GATEWRIGHT_STATS_ADDR names another address`,
  )
  await first.close()
})

test('no connections are accepted after closing', async () => {
  const server = await startMetricsServer({ host: '127.0.0.1', port: 0, metricsText: () => '', reportBug: failOnBug })
  await server.close()
  await expect(ask(server.port, '/metrics')).rejects.toThrow('ECONNREFUSED')
})

test('the first page describes the port', async () => {
  const server = await startMetricsServer({ host: '127.0.0.1', port: 0, metricsText: () => '', reportBug: failOnBug })
  const { status, headers, body } = await ask(server.port, '/')
  await server.close()
  expect([status, headers['content-type']]).toEqual([200, 'text/html; charset=utf-8'])
  expect(headers['content-security-policy']).toContain("default-src 'none'")
  expect(body).toContain('This port of the gateway serves metrics for Prometheus.')
  expect(body).toContain('<a href="/metrics">/metrics</a>')
})
