import { afterAll, beforeAll, expect } from 'vitest'
import { startEcho } from '#examples/upstreams/echo.ts'
import { freePort } from '#test/support/free-port.ts'
import { startGateway } from '#test/support/gateway.ts'
import { backendYaml, createObjectsFolder, gatewayYaml, joinYaml, routeYaml } from '#test/support/objects-folder.ts'
import { policyYaml } from '#test/support/policy-yaml.ts'
import { verifies } from '#test/support/verifies.ts'

const stops = new AsyncDisposableStack()
let port: number

const marks = (value: string) => ({
  transformation: {
    request: { add: [{ name: 'x-mark', value: `"${value}"` }] },
    response: { add: [{ name: 'x-mark', value: `"${value}"` }] },
  },
})

beforeAll(async () => {
  const echo = await startEcho({ port: 0 })
  stops.defer(echo.close)
  port = await freePort()
  const before = { phase: 'PreRouting' }
  const objects = await createObjectsFolder({
    'all.yaml': joinYaml(
      gatewayYaml(port),
      backendYaml('echo', echo.port),
      routeYaml('all', '/', 'echo'),
      policyYaml('before', 'Gateway', 'main', { traffic: { ...before, ...marks('before') } }),
      policyYaml('after', 'Gateway', 'main', { traffic: marks('after') }),
    ),
  })
  stops.defer(objects.remove)
  const gateway = await startGateway({ files: [objects.path] })
  stops.defer(async () => void (await gateway.close()))
})

afterAll(() => stops.disposeAsync())

verifies(
  'traffic/phases-run-separately',
  'one field in both phases, at one Gateway: both run, each in its phase',
  async () => {
    const response = await fetch(`http://127.0.0.1:${port}/`)
    const { headers } = (await response.json()) as { headers: Record<string, unknown> }
    expect(headers['x-mark']).toEqual(['before', 'after'])
    expect(response.headers.get('x-mark')).toBe('after, before')
  },
)
