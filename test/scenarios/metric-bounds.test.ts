import { afterAll, expect, test } from 'vitest'
import { startEcho } from '#examples/upstreams/echo.ts'
import { eventually } from '#test/support/eventually.ts'
import { freePort } from '#test/support/free-port.ts'
import { startGateway } from '#test/support/gateway.ts'
import {
  backendRef,
  backendYaml,
  createObjectsFolder,
  gatewayYaml,
  joinYaml,
  routeYaml,
} from '#test/support/objects-folder.ts'
import { policyYaml } from '#test/support/policy-yaml.ts'

const stops = new AsyncDisposableStack()
afterAll(() => stops.disposeAsync())

const labels = `
apiVersion: gatewright.dev/v1alpha1
kind: ProxyPolicy
metadata: { name: labels }
spec:
  targetRefs: [{ group: gateway.networking.k8s.io, kind: Gateway, name: main }]
  frontend: { metrics: { attributes: { add: [{ name: user, expression: 'request.headers["x-user"]' }] } } }
`

test('2 workers, 500 users: 200 of them in the scrape, and it is said', async () => {
  const echo = await startEcho({ port: 0 })
  stops.defer(echo.close)
  const port = await freePort()
  const folder = await createObjectsFolder({
    'all.yaml': joinYaml(gatewayYaml(port), backendYaml('echo', echo.port), routeYaml('all', '/', 'echo'), labels),
  })
  stops.defer(folder.remove)
  const gateway = await startGateway({ files: [folder.path], workers: 2 })
  stops.use(gateway)
  for (let from = 0; from < 500; from += 50) {
    const users = Array.from({ length: 50 }, (_, i) => `u${from + i}`)
    const sent = users.map((user) => fetch(gateway.url(port), { headers: { 'x-user': user, connection: 'close' } }))
    for (const response of await Promise.all(sent)) await response.text()
  }
  const linesOf = async (metric: string) => {
    const text = await (await fetch(`${gateway.url(15_020)}/metrics`)).text()
    return text.split('\n').filter((line) => line.startsWith(`${metric}{`))
  }
  const sumOf = (lines: readonly string[]) => lines.reduce((sum, line) => sum + Number(line.split(' ').at(-1)), 0)
  const lines = await eventually('all are counted', async () => {
    const found = await linesOf('gatewright_requests_total')
    return sumOf(found) === 500 ? found : undefined
  })
  expect(lines).toHaveLength(201)
  expect(lines.filter((line) => line.includes('user="other"'))).toEqual([expect.stringMatching(/\} 300$/)])
  const folded = sumOf(await linesOf('gatewright_folded_label_values_total'))
  expect(folded, 'in six metrics of requests, by workers and main thread').toBe(6 * 300)
  const said = gateway.output.stderr.split('\n').filter((line) => line.includes('a metric label has 200 values'))
  const place = (text: string) => expect.stringMatching(new RegExp(`\\twarn\\t.* counted as other label=user ${text}$`))
  expect(
    said.map((line) => line.slice(line.indexOf('\t'))).toSorted(),
    'once for the route, and once for metrics without a place',
  ).toEqual([
    place('gateway=default/main listener=http route=default/all route_rule="rule 0"'),
    place('gateway=unknown listener=unknown route=unknown route_rule=unknown'),
  ])
})

test('calls that a request causes have its labels; folded values of metrics without a place are counted', async () => {
  const echo = await startEcho({ port: 0 })
  stops.defer(echo.close)
  const port = await freePort()
  const extAuth = { backendRef: backendRef('echo'), http: {} }
  const folder = await createObjectsFolder({
    'all.yaml': joinYaml(
      gatewayYaml(port),
      backendYaml('echo', echo.port),
      routeYaml('all', '/', 'echo'),
      policyYaml('asked', 'HTTPRoute', 'all', { traffic: { extAuth } }),
      labels,
    ),
  })
  stops.defer(folder.remove)
  const gateway = stops.use(await startGateway({ files: [folder.path], workers: 1 }))
  for (let i = 0; i < 202; i++) {
    await (await fetch(gateway.url(port), { headers: { 'x-user': `u${i}` } })).text()
  }
  const metrics = await (await fetch(`${gateway.url(15_020)}/metrics`)).text()
  const count = 'gatewright_call_duration_seconds_count{purpose="authorization",backend="default/echo",outcome="2xx",'
  expect(metrics).toContain(`${count}user="u0"} 1`)
  expect(metrics).toContain(`${count}user="other"} 2`)
  expect(metrics).toContain(
    'gatewright_folded_label_values_total{label="user",gateway="unknown",listener="unknown",route="unknown",route_rule="unknown"} ',
  )
})
