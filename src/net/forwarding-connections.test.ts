import { mkdtemp, rm } from 'node:fs/promises'
import net from 'node:net'
import { tmpdir } from 'node:os'
import path from 'node:path'
import { expect, onTestFinished, test } from 'vitest'
import { eventually } from '#test/support/eventually.ts'
import { verifies } from '#test/support/verifies.ts'
import { DRAIN_GRACE_MS } from './served-connection.ts'
import { startForwarding } from './testing/forwarding-rig.ts'
import { handClock } from './testing/hand-clock.ts'
import { answering, echo, RawClient } from './testing/raw-peers.ts'
import { workerWheel } from './timer-wheel.ts'

const time = handClock()

const UPGRADE = 'GET /chat HTTP/1.1\r\nHost: x\r\nConnection: keep-alive, Upgrade\r\nUpgrade: echo\r\n\r\n'

test('an upgrade relays bytes both ways until one side ends', async () => {
  let seen = ''
  const { connect, proxy } = await startForwarding((peer) => {
    peer.socket.once('data', (bytes) => {
      seen = bytes.toString('latin1')
      peer.send('HTTP/1.1 101 Switching Protocols\r\nConnection: Upgrade\r\nUpgrade: Echo\r\nX: y\r\n\r\nhello ')
      peer.socket.on('data', (more) => peer.socket.write(more))
    })
    peer.socket.on('end', () => peer.socket.end('bye'))
  })
  const client = await connect()
  client.send(`${UPGRADE}early `)
  await client.until((text) => text.endsWith('hello early '))
  client.send('\0\u00ff\r\nGET / HTTP/1.1\r\n\r\n')
  await client.until((text) => text.endsWith('HTTP/1.1\r\n\r\n'))
  client.socket.end()
  expect(await client.untilEnd()).toBe(
    'HTTP/1.1 101 Switching Protocols\r\nX: y\r\nconnection: upgrade\r\nupgrade: Echo\r\n\r\n' +
      'hello early \0\u00ff\r\nGET / HTTP/1.1\r\n\r\nbye',
  )
  expect(seen).toBe('GET /chat HTTP/1.1\r\nHost: x\r\nconnection: upgrade\r\nupgrade: echo\r\n\r\n')
  expect(proxy.events[0]).toMatch(/^finished \/chat/)
})

test('a declined upgrade is an ordinary response', async () => {
  const { connect } = await startForwarding(echo)
  const client = await connect()
  client.send(UPGRADE)
  await client.until((text) => text.endsWith('got /chat 0'))
  client.send('GET /next HTTP/1.1\r\nHost: x\r\n\r\n')
  await client.until((text) => text.endsWith('got /next 0'))
})

test.each([
  ['to another protocol', UPGRADE, 'Upgrade: other'],
  ['that was not requested', 'GET / HTTP/1.1\r\nHost: x\r\n\r\n', 'Upgrade: echo'],
])('an upgrade %s is refused', async (_, request, line) => {
  const { connect } = await startForwarding(answering(() => `HTTP/1.1 101 X\r\nConnection: Upgrade\r\n${line}\r\n\r\n`))
  const client = await connect()
  client.send(request)
  await client.until((text) => text.startsWith('HTTP/1.1 502 ') && text.endsWith('request upgrade failed'))
})

verifies('backend.static/unix-path-connects', 'a Unix socket as upstream', async () => {
  const folder = await mkdtemp(path.join(tmpdir(), 'gatewright-'))
  const unixPath = path.join(folder, 'socket')
  const server = net.createServer((socket) => {
    socket.once('data', () => socket.write('HTTP/1.1 200 OK\r\ncontent-length: 4\r\n\r\nunix'))
  })
  await new Promise<void>((resolve) => server.listen(unixPath, resolve))
  onTestFinished(() => rm(folder, { recursive: true }))
  onTestFinished(() => void server.close())
  const { connect } = await startForwarding(echo, { destination: { key: unixPath, unixPath } })
  const client = await connect()
  client.send('GET / HTTP/1.1\r\nHost: x\r\n\r\n')
  await client.until((text) => text.endsWith('unix'))
})

test('drain: no new connections; the current request finishes, then everything closes', async () => {
  let answer: (() => void) | undefined
  const { connect, listener } = await startForwarding((peer) => {
    peer.socket.on('data', () => {
      answer = () => peer.send('HTTP/1.1 200 OK\r\ncontent-length: 2\r\n\r\nok')
    })
  })
  const idle = await connect()
  const busy = await connect()
  busy.send('GET / HTTP/1.1\r\nHost: x\r\n\r\n')
  const respond = await eventually('the request', () => (listener.connections === 2 ? answer : undefined))
  const { port } = listener
  const closed = listener.close({ drainMs: 5000 })
  await listener.stopAccepting()
  // Another test may have the port by now.
  const late = await RawClient.connect(port).catch(() => undefined)
  await new Promise((resolve) => setTimeout(resolve, 50))
  expect(listener.connections).toBe(2)
  late?.close()
  time.pass(workerWheel, DRAIN_GRACE_MS + 200)
  expect(await idle.untilEnd()).toBe('')
  respond()
  expect(await busy.untilEnd()).toBe('HTTP/1.1 200 OK\r\ncontent-length: 2\r\nconnection: close\r\n\r\nok')
  busy.close()
  await closed
  expect(listener.connections).toBe(0)
})

test('drain aborts requests that do not finish in time', async () => {
  let isReceived = false
  const { connect, listener, proxy } = await startForwarding((peer) => {
    peer.socket.on('data', () => {
      isReceived = true
    })
  })
  const client = await connect()
  client.send('GET / HTTP/1.1\r\nHost: x\r\n\r\n')
  await eventually('the request', () => isReceived || undefined)
  await listener.close({ drainMs: 50 })
  expect(proxy.events).toEqual(['aborted cancelled'])
  expect(await client.untilEnd()).toBe('')
})

test('a running drain can be shortened, not extended', async () => {
  let isReceived = false
  const { connect, listener, proxy } = await startForwarding((peer) => {
    peer.socket.on('data', () => {
      isReceived = true
    })
  })
  const client = await connect()
  client.send('GET / HTTP/1.1\r\nHost: x\r\n\r\n')
  await eventually('the request', () => isReceived || undefined)
  await Promise.all([600_000, 50, 300_000].map((drainMs) => listener.close({ drainMs })))
  expect(proxy.events).toEqual(['aborted cancelled'])
  expect(await client.untilEnd()).toBe('')
})
