import { writeFile } from 'node:fs/promises'
import { type RequestOptions, request } from 'node:https'
import { join } from 'node:path'
import { expect, test } from 'vitest'
import { CERTIFICATES } from '#net/testing/certificates.ts'
import { freePort } from '#test/support/free-port.ts'
import { startGateway } from '#test/support/gateway.ts'
import { copyWithPorts } from '../quickstart/copy-with-ports.ts'
import { startEcho } from '../upstreams/echo.ts'

function ask(port: number, options: RequestOptions): Promise<number> {
  return new Promise((resolve, reject) => {
    const place = { host: '127.0.0.1', port, servername: 'server.test', ca: CERTIFICATES.ca, agent: false }
    const headers = { host: 'server.test' }
    const sent = request({ ...place, headers, ...options }, (response) => {
      response.resume()
      response.on('end', () => resolve(response.statusCode ?? 0))
    })
    sent.on('error', reject)
    sent.end()
  })
}

test('callers with a certificate of the mesh get in, and only the cart may write', async () => {
  await using stops = new AsyncDisposableStack()
  const echo = await startEcho({ port: 0 })
  stops.defer(echo.close)
  const port = await freePort()
  const objects = await copyWithPorts(
    import.meta.dirname,
    new Map([
      [18_444, port],
      [9404, echo.port],
    ]),
  )
  stops.defer(objects.remove)
  const pems = {
    'server.pem': CERTIFICATES.server.cert,
    'server.key': CERTIFICATES.server.key,
    'authority.pem': CERTIFICATES.meshCa,
  }
  for (const [name, pem] of Object.entries(pems)) await writeFile(join(objects.folder, name), pem)
  stops.use(await startGateway({ files: [objects.folder], workers: 1 }))

  const { cert, key } = CERTIFICATES.mesh
  expect(await ask(port, { method: 'GET', cert, key })).toBe(200)
  expect(await ask(port, { method: 'POST', cert, key })).toBe(200)
  await expect(ask(port, { method: 'GET' })).rejects.toThrow()
  await expect(ask(port, { method: 'GET', ...CERTIFICATES.client })).rejects.toThrow()
})
