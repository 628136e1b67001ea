import { expect, onTestFinished, test } from 'vitest'
import { echo, RawServer } from '#net/testing/raw-peers.ts'
import { freePort } from '#test/support/free-port.ts'
import { startGateway } from '#test/support/gateway.ts'
import { backendYaml, createObjectsFolder, gatewayYaml, joinYaml, routeYaml } from '#test/support/objects-folder.ts'

test.each([
  ['auto', 'direct'],
  ['streams', 'streams'],
])('GATEWRIGHT_TRANSPORT=%s: requests pass, and the metrics say %s', async (setting, kind) => {
  const server = await new RawServer(echo).start()
  const port = await freePort()
  const folder = await createObjectsFolder({
    'all.yaml': joinYaml(gatewayYaml(port), routeYaml('web', '/', 'web'), backendYaml('web', server.port)),
  })
  onTestFinished(async () => {
    server.close()
    await folder.remove()
  })
  await using gateway = await startGateway({
    files: [folder.path],
    workers: 1,
    environment: { GATEWRIGHT_TRANSPORT: setting },
  })
  const large = 'x'.repeat(300_000)
  for (const body of ['', 'small', large]) {
    const response = await fetch(`${gateway.url(port)}/a`, { method: 'POST', body })
    expect(await response.text()).toBe(`got /a ${body.length}`)
  }
  const metrics = await (await fetch(`${gateway.url(15_020)}/metrics`)).text()
  expect(metrics).toContain(`gatewright_worker_starts_total{transport="${kind}"} 1\n`)
  expect(gateway.output.stderr).not.toContain('served through streams')
})
