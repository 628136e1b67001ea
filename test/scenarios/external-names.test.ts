import { afterAll, expect, test } from 'vitest'
import { startEcho } from '#examples/upstreams/echo.ts'
import { apiClient } from '#test/support/api-client.ts'
import { eventually } from '#test/support/eventually.ts'
import { freePort } from '#test/support/free-port.ts'
import { startGateway } from '#test/support/gateway.ts'
import { createObjectsFolder, gatewayYaml, joinYaml, routeYaml } from '#test/support/objects-folder.ts'
import { temporaryFolder } from '#test/support/temporary-folder.ts'

// Services of type ExternalName: the operator's files may name servers, clients of the API only with --allow-external-name.

const stops = new AsyncDisposableStack()
afterAll(() => stops.disposeAsync())

const routeTo = (name: string) =>
  routeYaml(name, `/${name}`, name).replace(
    `group: gatewright.dev, kind: ProxyBackend, name: ${name}`,
    `name: ${name}, port: 80`,
  )

const service = (name: string, port: number) => ({
  metadata: { name },
  spec: { type: 'ExternalName', externalName: 'localhost', ports: [{ port }] },
})

test.each([
  [[], 503],
  [['--allow-external-name'], 200],
])('run %j: a Service of the API gets %d', async (flags, expected) => {
  const echo = await startEcho({ port: 0 })
  stops.defer(() => echo.close())
  const [port, state] = [await freePort(), temporaryFolder()]
  const yaml = joinYaml(
    gatewayYaml(port),
    ...['file', 'api'].map((name) => routeTo(name).replace('port: 80', `port: ${echo.port}`)),
    `\n${JSON.stringify({ apiVersion: 'v1', kind: 'Service', ...service('file', echo.port) })}\n`,
  )
  const folder = await createObjectsFolder({ 'objects.yaml': yaml })
  stops.defer(() => folder.remove())
  await using gateway = await startGateway({
    files: [folder.path],
    workers: 1,
    stateFolder: state,
    arguments: flags,
    environment: { GATEWRIGHT_API_ADDR: '127.0.0.1:0' },
  })
  const statusOf = async (name: string) => (await fetch(`${gateway.url(port)}/${name}`)).status
  expect(await statusOf('file')).toBe(200)
  expect(await statusOf('api')).toBe(500)
  const call = apiClient(state)
  const path = '/api/v1/namespaces/default/services'
  expect((await call(path, { method: 'POST', body: service('api', echo.port) })).status).toBe(201)
  await eventually('the Service is in force', async () => (await statusOf('api')) === expected)
})
