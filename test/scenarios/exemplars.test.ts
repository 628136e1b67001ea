import { afterAll, beforeAll, expect, test } from 'vitest'
import { type Echo, startEcho } from '#examples/upstreams/echo.ts'
import { startCollector } from '#test/support/collector.ts'
import { eventually } from '#test/support/eventually.ts'
import { freePort } from '#test/support/free-port.ts'
import { startGateway, type TestGateway } from '#test/support/gateway.ts'
import { backendYaml, createObjectsFolder, joinYaml } from '#test/support/objects-folder.ts'
import { endpointYaml, frontendYaml } from '#test/support/traced-gateway.ts'

/** Exemplars of a running gateway: metrics lead to the traces of sampled requests. */

const stops = new AsyncDisposableStack()
let gateway: TestGateway
let port: number

beforeAll(async () => {
  const echo = await startEcho({ port: 0 })
  stops.defer(echo.close)
  const collector = stops.use(await startCollector())
  port = await freePort()
  const tracing = { backendRef: { name: 'collector', port: 80 }, randomSampling: 'request.path == "/traced"' }
  const objects = joinYaml(
    backendYaml('echo', echo.port),
    endpointYaml('collector', collector.grpcPort),
    frontendYaml('traced', port, { tracing }),
  )
  const folder = await createObjectsFolder({ 'all.yaml': objects })
  stops.defer(folder.remove)
  gateway = stops.use(await startGateway({ files: [folder.path], workers: 1 }))
})

afterAll(() => stops.disposeAsync())

async function request(path: string): Promise<Echo> {
  return (await (await fetch(`http://127.0.0.1:${port}${path}`)).json()) as Echo
}

async function scrape(accept: string): Promise<string> {
  return (await fetch(`${gateway.url(15_020)}/metrics`, { headers: { accept } })).text()
}

/** The lines of requests in OpenMetrics, when so many were counted. */
function requestLines(count: number): Promise<readonly string[]> {
  return eventually(`${count} requests`, async () => {
    const text = await scrape('application/openmetrics-text')
    expect(text.endsWith('\n# EOF\n')).toBe(true)
    const lines = text
      .split('\n')
      .filter((line) => /^gatewright_requests_total|^gatewright_request_duration/.test(line))
    return lines.some((line) => line.startsWith('gatewright_requests_total') && line.includes(`} ${count}`))
      ? lines
      : undefined
  })
}

test('only requests that are traced have exemplars; they carry the trace and the span of the request', async () => {
  await request('/plain')
  expect((await requestLines(1)).filter((line) => line.includes(' # '))).toEqual([])

  const { headers } = await request('/traced')
  const [, traceId] = String(headers.traceparent).split('-')
  const exemplars = (await requestLines(2)).filter((line) => line.includes(' # '))
  expect(exemplars).toHaveLength(2)
  const [requests, duration] = exemplars as [string, string]
  const marked = `# \\{trace_id="${traceId}",span_id="[0-9a-f]{16}"\\}`
  expect(requests).toMatch(new RegExp(`^gatewright_requests_total\\{.*\\} 2 ${marked} 1 \\d+\\.\\d{3}$`))
  expect(duration).toMatch(
    new RegExp(`^gatewright_request_duration_seconds_bucket\\{.*\\} \\d ${marked} [\\d.e-]+ \\d+`),
  )

  await request('/plain')
  const later = (await requestLines(3)).filter((line) => line.includes(' # '))
  expect(later[0], 'an untraced request replaces no exemplar').toContain(`trace_id="${traceId}"`)
  const classic = await scrape('text/plain')
  expect([classic.includes('gatewright_requests_total'), classic.includes(String(traceId))]).toEqual([true, false])
})
