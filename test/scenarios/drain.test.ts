import { connect } from 'node:net'
import { expect, test } from 'vitest'
import { startEcho } from '#examples/upstreams/echo.ts'
import { eventually } from '#test/support/eventually.ts'
import { freePort } from '#test/support/free-port.ts'
import { startGateway } from '#test/support/gateway.ts'
import { backendYaml, createObjectsFolder, gatewayYaml, joinYaml, routeYaml } from '#test/support/objects-folder.ts'

test('SIGTERM: no new connections, requests in flight are finished, exit code 0', async () => {
  await using stops = new AsyncDisposableStack()
  const echo = await startEcho({ port: 0 })
  stops.defer(echo.close)
  const port = await freePort()
  const folder = await createObjectsFolder({
    'all.yaml': joinYaml(gatewayYaml(port), backendYaml('echo', echo.port), routeYaml('all', '/', 'echo')),
  })
  stops.defer(folder.remove)
  const gateway = await startGateway({ files: [folder.path], workers: 2 })
  const idle = connect({ host: '127.0.0.1', port })
  const idleClosed = new Promise((resolve) => idle.on('close', resolve))
  const slow = fetch(`http://127.0.0.1:${port}/?delay=700`)
  await eventually('the slow request is under way', async () => {
    const ready = await fetch(`http://127.0.0.1:${port}/`)
    return ready.status === 200 || undefined
  })
  const closed = gateway.close()
  const response = await slow
  expect(response.status).toBe(200)
  expect(response.headers.get('connection')).toBe('close')
  await idleClosed
  expect(await closed).toBe(0)
  await expect(fetch(`http://127.0.0.1:${port}/`)).rejects.toThrow()
})
