import { createServer } from 'node:http'
import type { AddressInfo } from 'node:net'
import { expect, test } from 'vitest'
import { freePort } from '#test/support/free-port.ts'
import { startGateway } from '#test/support/gateway.ts'
import { createObjectsFolder, gatewayYaml, joinYaml, routeYaml } from '#test/support/objects-folder.ts'

test('a provider gets its own name as host, or that of the client if it has an IP address', async () => {
  await using stops = new AsyncDisposableStack()
  const hosts: (string | undefined)[] = []
  const provider = createServer((request, response) => {
    hosts.push(request.headers.host)
    request.resume().on('end', () => response.setHeader('content-type', 'application/json').end('{}'))
  })
  await new Promise<void>((resolve) => provider.listen(0, '127.0.0.1', resolve))
  stops.defer(async () => {
    provider.closeAllConnections()
    await new Promise((resolve) => provider.close(resolve))
  })
  const { port: providerPort } = provider.address() as AddressInfo
  const port = await freePort()
  const backend = (name: string, host: string) => `
apiVersion: gatewright.dev/v1alpha1
kind: ProxyBackend
metadata: { name: ${name} }
spec: ${JSON.stringify({ ai: { provider: { providerOne: {}, host, port: providerPort } } })}
`
  const folder = await createObjectsFolder({
    'all.yaml': joinYaml(
      gatewayYaml(port),
      backend('address', '127.0.0.1'),
      backend('name', 'localhost'),
      ...['address', 'name'].map((name) => routeYaml(name, `/${name}`, name)),
    ),
  })
  stops.defer(folder.remove)
  const gateway = stops.use(await startGateway({ files: [folder.path], workers: 1 }))
  const client = new URL(gateway.url(port)).host
  for (const name of ['address', 'name']) {
    const body = '{"model":"m","messages":[{"role":"user","content":"Hi"}]}'
    const response = await fetch(`http://${client}/${name}/chat/completions`, { method: 'POST', body })
    expect(response.status).toBe(200)
  }
  expect(hosts).toEqual([client, 'localhost'])
})
