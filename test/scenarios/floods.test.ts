import { execFileSync } from 'node:child_process'
import { once } from 'node:events'
import http from 'node:http'
import net from 'node:net'
import { setTimeout as sleep } from 'node:timers/promises'
import { afterAll, beforeAll, expect, test } from 'vitest'
import { freePort } from '#test/support/free-port.ts'
import { type GatewayProcess, startGatewayProcess } from '#test/support/gateway-process.ts'
import { backendYaml, createObjectsFolder, gatewayYaml, joinYaml, routeYaml } from '#test/support/objects-folder.ts'

const LARGE = Buffer.alloc(32 * 1024 * 1024, 'x')

const stops = new AsyncDisposableStack()
let gateway: GatewayProcess
let port: number

beforeAll(async () => {
  const upstream = http.createServer((request, response) => {
    response.end(request.url === '/large' ? LARGE : 'small')
  })
  upstream.listen(0, '127.0.0.1')
  await once(upstream, 'listening')
  stops.defer(() => {
    upstream.closeAllConnections()
    upstream.close()
  })
  port = await freePort()
  const objects = joinYaml(
    gatewayYaml(port),
    backendYaml('upstream', (upstream.address() as net.AddressInfo).port),
    routeYaml('all', '/', 'upstream'),
  )
  const folder = await createObjectsFolder({ 'all.yaml': objects })
  stops.defer(folder.remove)
  gateway = await startGatewayProcess({ files: [folder.path], workers: 2 })
  stops.defer(() => void gateway.process.kill('SIGKILL'))
  // The first requests make what later ones share.
  for (let i = 0; i < 50; i++) await askOthers()
})

afterAll(() => stops.disposeAsync())

/** Many clients that open a connection, say something, and then do not behave. */
async function misbehave(count: number, bytes: string, reads: boolean) {
  const sockets = await Promise.all(
    Array.from({ length: count }, async () => {
      const socket = net.connect(port, '127.0.0.1')
      socket.on('error', () => {})
      if (!reads) socket.pause()
      await once(socket, 'connect')
      if (bytes !== '') socket.write(bytes)
      return socket
    }),
  )
  return {
    sockets,
    async [Symbol.asyncDispose]() {
      await Promise.all(sockets.map((socket) => socket.destroy().closed || once(socket, 'close')))
    },
  }
}

/** The responses to other clients meanwhile. */
async function askOthers(): Promise<void> {
  const response = await fetch(`http://127.0.0.1:${port}/`)
  expect([response.status, await response.text()]).toEqual([200, 'small'])
}

function residentMb(): number {
  return Number(execFileSync('ps', ['-o', 'rss=', '-p', String(gateway.process.pid)], { encoding: 'utf8' })) / 1024
}

test('slow heads: a thousand clients that send a byte now and then do not affect others', async () => {
  const before = residentMb()
  await using slow = await misbehave(1000, 'GET / HTTP/1.1\r\nhost: a\r\nx-slow: ', true)
  for (let i = 0; i < 10; i++) {
    for (const socket of slow.sockets) socket.write('x')
    await askOthers()
  }
  expect(slow.sockets.filter((socket) => !socket.destroyed)).toHaveLength(1000)
  // A head that grows needs a buffer of its own.
  expect(residentMb() - before).toBeLessThan(100)
})

test('slow readers pause the backend', async () => {
  const before = residentMb()
  await using slow = await misbehave(100, 'GET /large HTTP/1.1\r\nhost: a\r\n\r\n', false)
  for (let i = 0; i < 10; i++) {
    await sleep(50)
    await askOthers()
  }
  expect(slow.sockets).toHaveLength(100)
  // Filling the sockets' buffers leaves garbage, up to 150 MB however many readers there are; all answers are 3.2 GB.
  expect(residentMb() - before).toBeLessThan(400)
})

test('connection floods: two thousand silent connections cost little, and leave when their clients do', async () => {
  const before = residentMb()
  {
    await using silent = await misbehave(2000, '', true)
    for (let i = 0; i < 10; i++) await askOthers()
    expect(silent.sockets.filter((socket) => !socket.destroyed)).toHaveLength(2000)
    expect(residentMb() - before).toBeLessThan(100)
  }
  await askOthers()
})
