import http2 from 'node:http2'
import net from 'node:net'
import { expect, test } from 'vitest'
import { ForwardRules, parseNetwork } from '../connect/forward-rules.ts'
import type { Destination } from '../destination.ts'
import { ask } from '../testing/ask.ts'
import { poolRig } from '../testing/pool-rig.ts'

const { cleanup, newPool } = poolRig()

/** The test permits this loopback address. */
const PERMITTED = '127.0.0.2'
const OTHER = '127.0.0.3'
const rules = new ForwardRules([parseNetwork(PERMITTED)!])

/** Servers at both addresses, on one port, that respond with their address and close the connection if `closes`. */
async function servers(closes: boolean): Promise<{ readonly port: number; readonly open: Set<net.Socket> }> {
  const open = new Set<net.Socket>()
  let port = 0
  for (const address of [PERMITTED, OTHER]) {
    const server = net.createServer((socket) => {
      open.add(socket)
      socket.on('close', () => open.delete(socket)).on('error', () => {})
      const head = `HTTP/1.1 200 OK\r\n${closes ? 'connection: close\r\n' : ''}content-length: ${address.length}\r\n\r\n`
      socket.on('data', () => socket.write(head + address))
    })
    await new Promise<void>((resolve) => server.listen(port, address, resolve))
    port = (server.address() as net.AddressInfo).port
    cleanup.push(
      () => server.close(),
      () => {
        for (const socket of open) socket.destroy()
      },
    )
  }
  return { port, open }
}

const to = (host: string, port: number, more: Partial<Destination> = {}): Destination => ({
  key: `chosen ${host}:${port}`,
  host,
  port,
  chosenByClient: true,
  connectTimeoutMs: 3000,
  ...more,
})

test('the address is checked for every connection, not for the name', async () => {
  const { port } = await servers(true)
  let addresses = [PERMITTED]
  const { pool, pass } = newPool({ forwardRules: rules, lookup: (_, done) => done(null, addresses, 1000) })
  const destination = to('rebinding.test', port)
  expect((await ask(pool, destination)).body).toBe(PERMITTED)
  addresses = [OTHER]
  pass(2000)
  const second = await ask(pool, destination)
  expect(second).toMatchObject({ failure: 'address-not-allowed', detail: `${OTHER} is a loopback address` })
  addresses = [OTHER, PERMITTED]
  pass(2000)
  expect((await ask(pool, destination)).body).toBe(PERMITTED)
})

test('a configured backend at the same address does not open the way', async () => {
  const { port } = await servers(false)
  const { pool } = newPool({ forwardRules: rules })
  const configured: Destination = { key: `${OTHER}:${port}`, host: OTHER, port, connectTimeoutMs: 3000 }
  expect((await ask(pool, configured)).body).toBe(OTHER)
  expect(await ask(pool, to(OTHER, port))).toMatchObject({ failure: 'address-not-allowed' })
})

test('idle connections to many destinations are bounded', async () => {
  const { port, open } = await servers(false)
  const { pool } = newPool({ forwardRules: rules, lookup: (_, done) => done(null, [PERMITTED]) })
  for (let i = 0; i < 530; i++) await ask(pool, to(`${i}.test`, port))
  await expect.poll(() => open.size).toBe(512)
  expect((await ask(pool, to('529.test', port))).body).toBe(PERMITTED)
  expect(open.size).toBe(512)
})

test('idle HTTP/2 connections to many destinations are bounded', async () => {
  const server = http2.createServer((_, response) => response.end('two'))
  let sessions = 0
  server.on('session', (session) => {
    sessions++
    session.on('close', () => sessions--).on('error', () => {})
  })
  await new Promise<void>((resolve) => server.listen(0, PERMITTED, resolve))
  cleanup.push(() => server.close())
  const { port } = server.address() as net.AddressInfo
  const { pool } = newPool({ forwardRules: rules, lookup: (_, done) => done(null, [PERMITTED]) })
  for (let i = 0; i < 520; i++) await ask(pool, to(`${i}.test`, port, { http: 'http2' }))
  await expect.poll(() => sessions).toBe(512)
})
