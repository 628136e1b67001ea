import { afterAll, expect, test } from 'vitest'
import { startEcho } from '#examples/upstreams/echo.ts'
import { eventually } from '#test/support/eventually.ts'
import { freePort } from '#test/support/free-port.ts'
import { startGateway } from '#test/support/gateway.ts'
import { backendYaml, createObjectsFolder, gatewayYaml, joinYaml, routeYaml } from '#test/support/objects-folder.ts'

const stops = new AsyncDisposableStack()
afterAll(() => stops.disposeAsync())

const POLICIES = `
apiVersion: gatewright.dev/v1alpha1
kind: ProxyPolicy
metadata: { name: direct }
spec:
  targetRefs: [{ group: gateway.networking.k8s.io, kind: HTTPRoute, name: direct }]
  traffic: { directResponse: { status: 200, body: here } }
---
apiVersion: gatewright.dev/v1alpha1
kind: ProxyPolicy
metadata: { name: log }
spec:
  targetRefs: [{ group: gateway.networking.k8s.io, kind: Gateway, name: main }]
  frontend:
    accessLog:
      attributes:
        add:
          - { name: processed, expression: "proxy.requestProcessingDuration > duration('0s')" }
          - { name: answered, expression: "proxy.upstreamDuration > duration('0s')" }
`

test('a request takes time, also when it is answered within one turn of the event loop', async () => {
  const echo = await startEcho({ port: 0 })
  stops.defer(echo.close)
  const port = await freePort()
  const routes = [routeYaml('direct', '/direct', 'echo'), routeYaml('all', '/', 'echo')]
  const folder = await createObjectsFolder({
    'all.yaml': joinYaml(gatewayYaml(port), backendYaml('echo', echo.port), ...routes, POLICIES),
  })
  stops.defer(folder.remove)
  const gateway = await startGateway({ files: [folder.path], workers: 1 })
  stops.use(gateway)
  for (const path of ['/direct', '/passed']) await (await fetch(`${gateway.url(port)}${path}`)).text()

  const decisions = (await (await fetch(`${gateway.url(15_000)}/decisions`)).json()) as {
    target: string
    durationMs: number
  }[]
  expect(decisions.map(({ target }) => target)).toEqual(['/passed', '/direct'])
  for (const { durationMs } of decisions) expect(durationMs).toBeGreaterThan(0)

  const metrics = await (await fetch(`${gateway.url(15_020)}/metrics`)).text()
  const sums = metrics.match(/^gatewright_request_duration_seconds_sum.*$/gm) ?? []
  expect(sums).toHaveLength(2)
  for (const line of sums) expect(Number(line.split('} ')[1])).toBeGreaterThan(0)

  const line = await eventually('the line is written', () => /http\.path=\/passed.*/.exec(gateway.output.stdout)?.[0])
  expect(line).toContain('processed=true answered=true')
})
