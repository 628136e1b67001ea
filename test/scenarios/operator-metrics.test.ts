import { afterAll, beforeAll, expect, test } from 'vitest'
import { startEcho } from '#examples/upstreams/echo.ts'
import { eventually } from '#test/support/eventually.ts'
import { freePort } from '#test/support/free-port.ts'
import { startGateway, type TestGateway } from '#test/support/gateway.ts'
import {
  createObjectsFolder,
  gatewayYaml,
  joinYaml,
  type ObjectsFolder,
  serviceYaml,
} from '#test/support/objects-folder.ts'
import { PassingTime } from '#test/support/passing-time.ts'
import { policyYaml } from '#test/support/policy-yaml.ts'

const stops = new AsyncDisposableStack()
const time = stops.use(new PassingTime())
let folder: ObjectsFolder
let gateway: TestGateway
let port: number
let echoPort: number

beforeAll(async () => {
  const echo = await startEcho({ port: 0 })
  stops.defer(echo.close)
  port = await freePort()
  echoPort = echo.port
  folder = await createObjectsFolder({
    'all.yaml': joinYaml(
      gatewayYaml(port),
      serviceYaml('web', [echo.port]),
      policyYaml('health', 'Service', 'web', {
        backend: { health: { eviction: { duration: '60s', consecutiveFailures: 2 } } },
      }),
    ),
  })
  stops.defer(folder.remove)
  gateway = stops.use(await startGateway({ files: [folder.path], workers: 1, arguments: ['--log-format', 'json'] }))
})

afterAll(() => stops.disposeAsync())

async function metric(name: string): Promise<string[]> {
  const text = await (await fetch(`${gateway.url(15_020)}/metrics`)).text()
  return text.split('\n').filter((line) => line.startsWith(name))
}

const jsonLines = (text: string) =>
  text
    .split('\n')
    .slice(0, -1)
    .map((line) => JSON.parse(line) as Record<string, unknown>)

test('rare failures are counted from 0, so that the first one is an increase', async () => {
  expect(await metric('gatewright_access_log_lost_lines_total')).toEqual(['gatewright_access_log_lost_lines_total 0'])
  expect(await metric('gatewright_worker_replacements_total')).toEqual([
    'gatewright_worker_replacements_total{cause="died"} 0',
    'gatewright_worker_replacements_total{cause="stuck"} 0',
  ])
})

test('an eviction is in the log, in metrics and in the status; its request has a duration that is a number', async () => {
  const endpoint = `127.0.0.1:${echoPort}`
  const labels = `{backend="default/web",endpoint="${endpoint}"}`
  expect(await metric('gatewright_endpoint_')).toEqual([
    `gatewright_endpoint_health${labels} 1`,
    `gatewright_endpoint_evicted${labels} 0`,
  ])
  for (let i = 0; i < 2; i++) expect((await fetch(`${gateway.url(port)}/web?status=503`)).status).toBe(503)
  const line = await eventually('the eviction is logged', () =>
    jsonLines(gateway.output.stderr).find(({ message }) => message === 'an endpoint is evicted'),
  )
  expect(line).toMatchObject({
    level: 'warn',
    worker: 'w1',
    backend: 'default/web',
    endpoint,
    seconds: 60,
    cause: '2 consecutive unhealthy responses',
    last: 'status 503',
  })
  expect(await metric('gatewright_endpoint')).toEqual([
    `gatewright_endpoint_evictions_total${labels} 1`,
    'gatewright_endpoints{state="serving"} 0',
    'gatewright_endpoints{state="evicted"} 1',
    `gatewright_endpoint_health${labels} 0.49`,
    `gatewright_endpoint_evicted${labels} 1`,
  ])
  const status = (await (await fetch(`${gateway.url(15_000)}/status`)).json()) as { readonly endpoints: unknown }
  expect(status.endpoints).toEqual([
    {
      backend: 'Service/default/web/80',
      endpoint,
      health: 0.49,
      consecutiveFailures: 2,
      evictedUntil: expect.stringMatching(/^\d{4}-.*Z$/),
    },
  ])
  const [first] = await eventually('requests are logged', () => {
    const lines = jsonLines(gateway.output.stdout)
    return lines.length === 2 ? lines : undefined
  })
  expect(first!.duration).toBeTypeOf('number')
})

test('a request is in flight until it has ended', async () => {
  expect(await metric('gatewright_requests_in_flight')).toEqual(['gatewright_requests_in_flight 0'])
  const client = new AbortController()
  const waiting = fetch(`${gateway.url(port)}/web?delay=60000`, { signal: client.signal }).catch(() => {})
  await eventually(
    'it has begun',
    async () => (await metric('gatewright_requests_in_flight 1')).length === 1 || undefined,
  )
  client.abort()
  await waiting
  await eventually('it has ended', async () => {
    // A client that has closed its side may still read, for two seconds.
    time.skip(500)
    return (await metric('gatewright_requests_in_flight 0')).length === 1
  })
})

test('reads of the objects, with their outcome', async () => {
  const before = await metric('gatewright_config_findings')
  expect(await metric('gatewright_config')).toEqual([
    'gatewright_config_reloads_total{outcome="success"} 1',
    'gatewright_config_reloads_total{outcome="failure"} 0',
    'gatewright_config_last_reload_successful 1',
    expect.stringMatching(/^gatewright_config_last_reload_success_timestamp_seconds 1\d{9}/),
    ...before,
  ])
  await folder.write('more.yaml', 'kind: [')
  await eventually(
    'the failure is counted',
    async () => (await metric('gatewright_config_reloads_total{outcome="failure"} 1')).length === 1 || undefined,
  )
  expect(await metric('gatewright_config_last_reload_successful')).toEqual([
    'gatewright_config_last_reload_successful 0',
  ])
  const after = await metric('gatewright_config_findings')
  expect(after.filter((line) => !before.includes(line))).toEqual([
    'gatewright_config_findings{severity="error",code="invalid-yaml"} 1',
    'gatewright_config_findings{severity="error",code="file-never-valid"} 1',
  ])
})

test('the build and the process', async () => {
  expect(await metric('gatewright_build_info')).toEqual([
    `gatewright_build_info{tag="0.1.0",node_version="${process.versions.node}"} 1`,
  ])
  expect((await metric('process_')).map((line) => line.split(' ')[0])).toEqual([
    'process_cpu_seconds_total',
    'process_resident_memory_bytes',
    ...['anonymous', 'file', 'shared', 'swapped'].map((kind) => `process_memory_bytes{kind="${kind}"}`),
    'process_start_time_seconds',
    'process_open_fds',
    'process_max_fds',
  ])
  expect(await metric('gatewright_event_loop_busy_seconds_total')).toEqual([
    expect.stringContaining('{worker="main"} '),
    expect.stringContaining('{worker="w1"} '),
  ])
})

test('both threads measure their event loop and their heap', async () => {
  const delays = await eventually('samples of both', async () => {
    const counts = await metric('gatewright_event_loop_delay_seconds_count')
    return counts.every((line) => !line.endsWith(' 0')) ? counts : undefined
  })
  const threads = [expect.stringContaining('{worker="main"} '), expect.stringContaining('{worker="w1"} ')]
  expect(delays).toEqual(threads)
  for (const name of ['heap_used', 'heap_total', 'heap_limit', 'external_memory']) {
    expect(await metric(`gatewright_${name}_bytes{`)).toEqual(threads)
  }
})

test('a change of the objects is a new plan, which the worker takes over', async () => {
  const version = async () => Number((await metric('gatewright_plan_version'))[0]!.split(' ')[1])
  const before = await version()
  await folder.write('more.yaml', serviceYaml('more', [echoPort]))
  const after = await eventually('the worker has it', async () => {
    const newest = await version()
    const [ofWorker] = await metric('gatewright_worker_plan_version')
    return newest > before && ofWorker === `gatewright_worker_plan_version{worker="w1"} ${newest}` ? newest : undefined
  })
  expect(after).toBeGreaterThan(before)
})
