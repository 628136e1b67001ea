import { once } from 'node:events'
import net from 'node:net'
import { text } from 'node:stream/consumers'
import tls from 'node:tls'
import { expect, test } from 'vitest'
import { CERTIFICATES } from '#net/testing/certificates.ts'
import { freePort } from '#test/support/free-port.ts'
import { startGateway } from '#test/support/gateway.ts'
import { copyWithPorts } from '../quickstart/copy-with-ports.ts'

test('bytes go to one of two servers, TLS to the one whose name is asked for', async () => {
  await using stops = new AsyncDisposableStack()
  const serve = async (server: net.Server) => {
    server.listen(0, '127.0.0.1')
    await once(server, 'listening')
    stops.defer(() => void server.close())
    return (server.address() as net.AddressInfo).port
  }
  const saying = (name: string) => net.createServer((socket) => socket.end(name))
  const mail = tls.createServer({ ...CERTIFICATES.server }, (socket) => socket.end(`mail for ${socket.servername}`))
  const [database, secured] = [await freePort(), await freePort()]
  const ports = new Map([
    [15_432, database],
    [18_443, secured],
    [9401, await serve(saying('first'))],
    [9402, await serve(saying('second'))],
    [9403, await serve(mail)],
  ])
  const objects = await copyWithPorts(import.meta.dirname, ports)
  stops.defer(objects.remove)
  stops.use(await startGateway({ files: [objects.folder], workers: 1 }))

  const names = new Set<string>()
  while (names.size < 2) names.add(await text(net.connect({ host: '127.0.0.1', port: database })))
  expect(names).toEqual(new Set(['first', 'second']))

  const options = { host: '127.0.0.1', port: secured, servername: 'mail.example.com', ca: CERTIFICATES.ca }
  // The certificate of the tests has another name.
  const socket = tls.connect({ ...options, checkServerIdentity: () => undefined })
  expect(await text(socket)).toBe('mail for mail.example.com')
})
