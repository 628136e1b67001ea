import http from 'node:http'
import http2, { type ServerHttp2Stream } from 'node:http2'
import net, { type AddressInfo } from 'node:net'
import tls from 'node:tls'
import { beforeAll, expect, test, vi } from 'vitest'
import { clock } from '#base/clock.ts'
import { eventually } from '#test/support/eventually.ts'
import type { ConnectTransport } from '../connect/pool-settings.ts'
import type { Destination, DestinationTls } from '../destination.ts'
import type { MeshMaterial } from '../hbone/mesh-material.ts'
import type { MeshMember } from '../hbone/mesh-member.ts'
import { ask } from '../testing/ask.ts'
import { type Authority, newAuthority } from '../testing/authority.ts'
import { CERTIFICATES } from '../testing/certificates.ts'
import { issueMaterial, type MeshPeer, type MeshPeerOptions, relay, startMeshPeer } from '../testing/mesh-peer.ts'
import { poolRig } from '../testing/pool-rig.ts'
import { echo, RawServer } from '../testing/raw-peers.ts'

const GATEWAY = 'spiffe://cluster.local/ns/infra/sa/gateway'
const POD = 'spiffe://cluster.local/ns/shop/sa/cart'

const { cleanup, newPool } = poolRig()

let authority: Authority
let gateway: MeshMaterial
let pod: MeshMaterial

beforeAll(async () => {
  authority = await newAuthority('Mesh root')
  gateway = await issueMaterial(authority, GATEWAY)
  pod = await issueMaterial(authority, POD)
})

async function peerOf(options: Partial<MeshPeerOptions> = {}): Promise<MeshPeer> {
  const peer = await startMeshPeer({ material: pod, ...options })
  cleanup.push(() => peer[Symbol.asyncDispose]())
  return peer
}

async function echoServer(): Promise<RawServer> {
  const server = await new RawServer(echo).start()
  cleanup.push(() => server.close())
  return server
}

/** A server at `port`, in a pod whose tunnels `peer` accepts. */
function inPod(port: number, peer: Pick<MeshPeer, 'port'>, more: Partial<Destination> = {}): Destination {
  return {
    key: `127.0.0.1:${port} mesh`,
    host: '127.0.0.1',
    port,
    connectTimeoutMs: 20_000,
    tunnel: { mode: 'mesh', port: peer.port, identity: POD },
    ...more,
  }
}

function meshPool(member: MeshMember = { material: gateway }) {
  const transports: ConnectTransport[] = []
  return { ...newPool({ mesh: member, connected: (transport) => transports.push(transport) }), transports, member }
}

test('requests reach the server in the pod through one session, with both identities', async () => {
  const [peer, server] = [await peerOf(), await echoServer()]
  const { pool, transports } = meshPool()
  const destination = inPod(server.port, peer)
  const results = await Promise.all(['/a', '/b', '/c'].map((path) => ask(pool, destination, { path, body: 'xyz' })))
  expect(results.map(({ body }) => body)).toEqual(['got /a 3', 'got /b 3', 'got /c 3'])
  expect((await ask(pool, destination, { path: '/d' })).body).toBe('got /d 0')
  expect(peer.asked).toEqual(Array(3).fill(`127.0.0.1:${server.port}`))
  expect(peer.clients).toEqual([GATEWAY])
  expect(transports).toEqual(['hbone', 'hbone', 'hbone'])
})

test.each([
  ['another identity', 'spiffe://cluster.local/ns/shop/sa/other', 'certificate-name'],
  ['another trust domain', 'spiffe://elsewhere/ns/shop/sa/cart', 'certificate-name'],
  ['no SPIFFE id', [], 'certificate-name'],
  ['two SPIFFE ids', [POD, 'spiffe://cluster.local/ns/shop/sa/other'], 'certificate-name'],
])('a pod with %s gets no request', async (_, uris, code) => {
  const [peer, server] = [await peerOf({ material: await issueMaterial(authority, uris) }), await echoServer()]
  const { failure, detail, sent } = await ask(meshPool().pool, inPod(server.port, peer))
  expect([failure, sent]).toEqual([code, false])
  expect(detail).toMatch(`mesh tunnel 127.0.0.1:${peer.port}: `)
  expect(detail).toMatch(POD)
  expect(server.connections).toBe(0)
})

test('a pod whose certificate other roots issued, or that has expired, gets no request', async () => {
  const server = await echoServer()
  const foreign = { ...(await issueMaterial(await newAuthority('Other'), POD)), roots: authority.pem }
  const expired = await issueMaterial(authority, POD, { fromMs: -7_200_000, forMs: -3_600_000 })
  for (const [material, code] of [
    [foreign, 'certificate-untrusted'],
    [expired, 'certificate-expired'],
  ] as const) {
    const peer = await peerOf({ material })
    expect((await ask(meshPool().pool, inPod(server.port, peer))).failure).toBe(code)
  }
  expect(server.connections).toBe(0)
})

test('a pod that does not accept the certificate of the gateway', async () => {
  const [peer, server] = [await peerOf(), await echoServer()]
  const stranger = { ...(await issueMaterial(await newAuthority('Other'), GATEWAY)), roots: authority.pem }
  const { failure, detail } = await ask(meshPool({ material: stranger }).pool, inPod(server.port, peer))
  expect([failure, server.connections]).toEqual(['tunnel-failed', 0])
  expect(detail).toMatch('it may not accept the certificate of this gateway')
})

/** A SETTINGS frame without settings. */
const SETTINGS = Buffer.from([0, 0, 0, 4, 0, 0, 0, 0, 0])
const H2 = { ALPNProtocols: ['h2'] }

/** Accepts TLS as a pod does, and then does what the test wants. */
async function rawPod(serve: (socket: tls.TLSSocket) => void, more: tls.TlsOptions = {}): Promise<{ port: number }> {
  const { certificate: cert, key, roots: ca } = pod
  const server = tls.createServer({ cert, key, ca, requestCert: true, ...more }, (socket) => {
    socket.on('error', () => {})
    cleanup.push(() => socket.destroy())
    serve(socket)
  })
  server.listen(0, '127.0.0.1')
  await new Promise((resolve) => server.once('listening', resolve))
  cleanup.push(() => server.close())
  return { port: (server.address() as AddressInfo).port }
}

test('a pod with TLS 1.2 or another protocol', async () => {
  for (const peer of [
    await rawPod(() => {}, { maxVersion: 'TLSv1.2' }),
    await rawPod(() => {}, { ALPNProtocols: ['x'] }),
  ]) {
    const { failure, detail } = await ask(meshPool().pool, inPod(1, peer))
    expect(failure).toBe('handshake-failed')
    expect(detail).toMatch('alert')
  }
})

test('a pod that chooses no protocol, closes, or answers in another protocol', async () => {
  for (const [peer, detail] of [
    [await rawPod(() => {}), 'does not speak HTTP/2'],
    [await rawPod((socket) => socket.end(), H2), 'closed the connection before it began HTTP/2'],
    [await rawPod((socket) => socket.write('HTTP/1.1 200 OK\r\n\r\n'), H2), 'does not speak HTTP/2'],
  ] as const) {
    const result = await ask(meshPool().pool, inPod(1, peer))
    expect(result.failure).toBe('tunnel-failed')
    expect(result.detail).toMatch(detail)
  }
})

test('a pod that refuses connections, or where nothing answers', async () => {
  const port = (await rawPod(() => {})).port
  for (const undo of cleanup.splice(0)) undo()
  expect(await ask(meshPool().pool, inPod(1, { port }))).toMatchObject({ failure: 'connection-refused', sent: false })
  const silent = await rawPod(() => {}, H2)
  const { pool, pass } = meshPool()
  const asked = ask(pool, inPod(1, silent, { connectTimeoutMs: 1000 }))
  await new Promise((resolve) => setTimeout(resolve, 20))
  pass(1300)
  expect(await asked).toMatchObject({ failure: 'connect-timeout', sent: false })
})

test.each([503, 404, 301, 204])('a CONNECT that the pod answers with %i', async (status) => {
  const serve = (stream: ServerHttp2Stream) => stream.respond({ ':status': status }, { endStream: true })
  const { failure, detail } = await ask(meshPool().pool, inPod(80, await peerOf({ serve })))
  expect(failure).toBe('tunnel-refused')
  expect(detail).toMatch(`: the pod answered ${status} to CONNECT`)
})

test('a CONNECT that the pod does not answer in time is cancelled, and the pod is asked whether it lives', async () => {
  const closed: number[] = []
  let pings = 0
  const serve = (stream: ServerHttp2Stream) => {
    stream.on('close', () => closed.push(stream.rstCode))
    stream.session!.on('ping', () => pings++)
  }
  const peer = await peerOf({ serve })
  const { pool, pass } = meshPool()
  const asked = ask(pool, inPod(80, peer, { connectTimeoutMs: 1000 }))
  await eventually('asked', () => peer.asked.length === 1)
  pass(1300)
  expect(await asked).toMatchObject({ failure: 'connect-timeout', sent: false })
  await eventually('cancelled and asked', () => closed.length === 1 && pings === 1)
  expect(closed).toEqual([http2.constants.NGHTTP2_CANCEL])
})

test('a session whose pod answers neither CONNECT nor PING is closed', async () => {
  const sockets: tls.TLSSocket[] = []
  const peer = await rawPod((socket) => {
    sockets.push(socket.resume())
    socket.write(SETTINGS)
  }, H2)
  const { pool, pass } = meshPool()
  const asked = ask(pool, inPod(80, peer, { connectTimeoutMs: 1000 }))
  await eventually('a session', () => (sockets[0]?.bytesRead ?? 0) > 0)
  pass(1300)
  expect((await asked).failure).toBe('connect-timeout')
  pass(10_300)
  await eventually('closed', () => sockets[0]!.destroyed)
})

test('a pod that allows no tunnels is not asked for further sessions', async () => {
  const peer = await peerOf({ maxStreams: 0 })
  const { pool, pass } = meshPool()
  const destination = inPod(80, peer, { connectTimeoutMs: 1000 })
  const asked = [ask(pool, destination), ask(pool, { ...destination, key: 'other' })]
  await eventually('a session', () => peer.sessions.length === 1)
  await new Promise((resolve) => setTimeout(resolve, 20))
  pass(1300)
  expect((await Promise.all(asked)).map(({ failure }) => failure)).toEqual(Array(2).fill('connect-timeout'))
  expect(peer.clients.length).toBe(1)
})

test('a pool that closes ends its sessions after their tunnels', async () => {
  const [peer, server] = [await peerOf(), await echoServer()]
  const { pool } = meshPool()
  expect((await ask(pool, inPod(server.port, peer))).status).toBe(200)
  pool.close()
  await eventually('closed', () => peer.sessions.length === 0)
})

test('without a certificate, with an unusable or an expired one, nothing is connected', async () => {
  const [peer, server] = [await peerOf(), await echoServer()]
  for (const [material, detail] of [
    [undefined, 'has no certificate'],
    [{ ...gateway, key: 'none' }, 'cannot be used'],
    [await issueMaterial(authority, GATEWAY, { fromMs: -7_200_000, forMs: -3_600_000 }), 'has expired'],
  ] as const) {
    const result = await ask(meshPool({ material }).pool, inPod(server.port, peer))
    expect([result.failure, result.sent]).toEqual(['mesh-certificate-missing', false])
    expect(result.detail).toMatch(detail)
  }
  expect([server.connections, peer.clients.length]).toEqual([0, 0])
})

test('a session is full at the limit of the pod, and another one is opened', async () => {
  const server = http.createServer((_, response) => void waiting.push(() => response.end('done')))
  const waiting: (() => void)[] = []
  server.listen(0, '127.0.0.1')
  await new Promise((resolve) => server.once('listening', resolve))
  cleanup.push(() => server.close())
  const peer = await peerOf({ maxStreams: 2 })
  const destination = inPod((server.address() as AddressInfo).port, peer)
  const { pool } = meshPool()
  const asked = Array.from({ length: 5 }, () => ask(pool, destination))
  await eventually('all served', () => waiting.length === 5)
  expect(peer.clients.length).toBe(3)
  for (const answer of waiting) answer()
  expect((await Promise.all(asked)).map(({ body }) => body)).toEqual(Array(5).fill('done'))
})

test('one tunnel that is reset fails alone', async () => {
  const server = await echoServer()
  const serve: MeshPeerOptions['serve'] = (stream, headers, index) => {
    if (index > 0) return relay(stream, headers)
    stream.respond({ ':status': 200 })
    stream.once('data', () => stream.close(http2.constants.NGHTTP2_CONNECT_ERROR))
  }
  const peer = await peerOf({ serve })
  const { pool } = meshPool()
  const destination = inPod(server.port, peer)
  const results = await Promise.all([1, 2, 3].map(() => ask(pool, destination, { method: 'POST', body: 'x' })))
  expect(results.map(({ failure, status }) => failure ?? status).sort()).toEqual([200, 200, 'reset'])
  expect(peer.clients.length).toBe(1)
})

test('tunnels that close, on either side, are not reset', async () => {
  const [peer, server] = [await peerOf({ maxResets: 3 }), http.createServer()]
  server.on('request', (_, response) => response.setHeader('connection', 'close').end('closing'))
  server.listen(0, '127.0.0.1')
  await new Promise((resolve) => server.once('listening', resolve))
  cleanup.push(() => server.close())
  const kept = await echoServer()
  const { pool, pass } = meshPool()
  for (let n = 0; n < 20; n++) {
    const closing = inPod((server.address() as AddressInfo).port, peer)
    expect((await ask(pool, closing)).body).toBe('closing')
    expect((await ask(pool, { ...inPod(kept.port, peer), key: `${n}` })).status).toBe(200)
  }
  // The idle connections.
  pass(91_000)
  expect((await ask(pool, inPod(kept.port, peer))).status).toBe(200)
  expect(peer.clients.length).toBe(1)
})

test('after a GOAWAY, open tunnels go on, and new ones use another session', async () => {
  const [peer, server] = [await peerOf(), await echoServer()]
  const { pool } = meshPool()
  const destination = inPod(server.port, peer)
  expect((await ask(pool, destination)).status).toBe(200)
  peer.sessions[0]!.close()
  // An idle connection over the old session still serves.
  expect((await ask(pool, destination)).status).toBe(200)
  expect((await ask(pool, { ...destination, key: 'other' })).status).toBe(200)
  expect([server.connections, peer.clients.length]).toEqual([2, 2])
})

test('a tunnel that meets the end of its session is opened over another one', async () => {
  const server = await echoServer()
  const serve: MeshPeerOptions['serve'] = (stream, headers, index) => {
    if (index === 1) stream.close(http2.constants.NGHTTP2_REFUSED_STREAM)
    else if (index === 2) stream.session!.destroy()
    else relay(stream, headers)
  }
  const peer = await peerOf({ serve })
  const { pool } = meshPool()
  const destination = inPod(server.port, peer)
  expect((await ask(pool, destination)).status).toBe(200)
  expect((await ask(pool, { ...destination, key: 'other' })).status).toBe(200)
  expect([peer.asked.length, peer.clients.length]).toEqual([4, 2])
})

test('a pod that dies in the middle fails only its own requests', async () => {
  let requests = 0
  const serve = (stream: ServerHttp2Stream) => {
    stream.respond({ ':status': 200 })
    stream.once('data', () => requests++)
  }
  const peer = await peerOf({ serve })
  const { pool } = meshPool()
  const asked = ask(pool, inPod(80, peer))
  await eventually('the request is in the pod', () => requests === 1)
  peer.sessions[0]!.socket.destroy()
  expect(await asked).toMatchObject({ failure: 'reset' })
  const [other, server] = [await peerOf(), await echoServer()]
  expect((await ask(pool, inPod(server.port, other))).status).toBe(200)
})

test('a pod that sends PINGs without end, and never answers', async () => {
  const ping = Buffer.from([0, 0, 8, 6, 0, 0, 0, 0, 0, ...Buffer.alloc(8)])
  const pings = Buffer.concat(Array.from({ length: 1000 }, () => ping))
  let written = 0
  const peer = await rawPod((socket) => {
    // Answers are not read, so that they would pile up.
    socket.pause()
    socket.write(SETTINGS)
    const flood = () => {
      while (!socket.destroyed && written < 100_000_000 && socket.write(pings)) written += pings.length
    }
    socket.on('drain', flood)
    flood()
  }, H2)
  const { pool } = meshPool()
  const { failure, sent } = await ask(pool, inPod(80, peer))
  expect([failure, sent]).toEqual(['tunnel-failed', false])
  expect(written).toBeLessThan(100_000_000)
})

test('a new certificate serves new connections, and no request fails', async () => {
  const [peer, server] = [await peerOf(), await echoServer()]
  const { pool, member } = meshPool()
  const destination = inPod(server.port, peer)
  const results: number[] = []
  const load = async () => {
    while (!peer.clients.includes(`${GATEWAY}-3`) || results.length < 40) {
      // Each on a connection of its own.
      const { status } = await ask(pool, { ...destination, key: `${results.length}` }, { method: 'POST', body: 'x' })
      results.push(status)
    }
  }
  const loads = Promise.all([load(), load(), load(), load()])
  for (const suffix of ['', '-1', '-2', '-3']) {
    if (suffix !== '') member.material = await issueMaterial(authority, `${GATEWAY}${suffix}`)
    await eventually(`a session with the certificate ${suffix}`, () => peer.clients.includes(`${GATEWAY}${suffix}`))
  }
  await loads
  expect(new Set(results)).toEqual(new Set([200]))
})

test('a session ends when the certificate that it was opened with has expired', async () => {
  let requests = 0
  const serve = (stream: ServerHttp2Stream) => {
    stream.respond({ ':status': 200 })
    stream.once('data', () => requests++)
  }
  const peer = await peerOf({ serve })
  const { pool, pass } = meshPool({ material: await issueMaterial(authority, GATEWAY, { forMs: 3_600_000 }) })
  const asked = ask(pool, inPod(80, peer))
  await eventually('the request is in the pod', () => requests === 1)
  vi.spyOn(clock, 'now').mockReturnValue(Date.now() + 3_700_000)
  pass(3_700_000)
  expect(await asked).toMatchObject({ failure: 'reset' })
})

test('a session without tunnels is closed after the idle time', async () => {
  const [peer, server] = [await peerOf(), await echoServer()]
  const { pool, pass } = meshPool()
  await ask(pool, inPod(server.port, peer))
  expect(peer.sessions.length).toBe(1)
  // The connection in the tunnel first, then the session.
  await eventually('the session is closed', () => {
    pass(91_000)
    return peer.sessions.length === 0
  })
})

const TLS: DestinationTls = {
  serverName: 'server.test',
  ca: CERTIFICATES.ca,
  cert: undefined,
  key: undefined,
  verify: 'full',
  alpn: undefined,
}

test('TLS, HTTP/2 and negotiated versions work inside, and the server is verified', async () => {
  const peer = await peerOf()
  const server = http2.createSecureServer({ ...CERTIFICATES.server, allowHTTP1: true }, (request, response) => {
    response.end(`${request.httpVersion} ${(request.socket as tls.TLSSocket).servername}`)
  })
  server.listen(0, '127.0.0.1')
  await new Promise((resolve) => server.once('listening', resolve))
  cleanup.push(() => server.close())
  const { port } = server.address() as AddressInfo
  const { pool, transports } = meshPool()
  for (const [http, alpn, body] of [
    ['http1', ['http/1.1'], '1.1 server.test'],
    ['http2', ['h2'], '2.0 server.test'],
    ['negotiated', ['h2', 'http/1.1'], '2.0 server.test'],
    ['negotiated', ['http/1.1', 'x'], '1.1 server.test'],
  ] as const) {
    const destination = inPod(port, peer, { key: `${http} ${alpn}`, http, tls: { ...TLS, alpn } })
    expect((await ask(pool, destination)).body).toBe(body)
  }
  expect(new Set(transports)).toEqual(new Set(['hbone-tls']))
  const { failure, detail } = await ask(pool, inPod(port, peer, { key: 'ca', tls: { ...TLS, ca: authority.pem } }))
  expect(failure).toBe('certificate-untrusted')
  expect(detail).not.toMatch('mesh tunnel')
})

test('HTTP/2 without TLS works inside, with many requests in one tunnel', async () => {
  const peer = await peerOf()
  const server = http2.createServer((_, response) => response.end('h2c'))
  server.listen(0, '127.0.0.1')
  await new Promise((resolve) => server.once('listening', resolve))
  cleanup.push(() => server.close())
  const destination = inPod((server.address() as AddressInfo).port, peer, { http: 'http2' })
  const { pool } = meshPool()
  const results = await Promise.all(Array.from({ length: 20 }, () => ask(pool, destination)))
  expect(results.map(({ body }) => body)).toEqual(Array(20).fill('h2c'))
  expect(peer.asked.length).toBe(1)
})

test('large bodies in both directions', async () => {
  const peer = await peerOf()
  const server = http.createServer((request, response) => request.pipe(response))
  server.listen(0, '127.0.0.1')
  await new Promise((resolve) => server.once('listening', resolve))
  cleanup.push(() => server.close())
  const body = 'abcdefghij'.repeat(1_000_000)
  const destination = inPod((server.address() as AddressInfo).port, peer)
  const result = await ask(meshPool().pool, destination, { method: 'POST', body })
  expect([result.status, result.body.length, result.body === body]).toEqual([200, body.length, true])
})

test('a proxy server in a pod is reached through its tunnel', async () => {
  const [peer, server] = [await peerOf(), await echoServer()]
  const proxy = net.createServer((socket) => {
    socket.on('error', () => {})
    socket.once('data', () => {
      const far = net.connect(server.port, '127.0.0.1', () => {
        socket.write('HTTP/1.1 200 OK\r\n\r\n')
        socket.pipe(far).pipe(socket)
      })
    })
  })
  proxy.listen(0, '127.0.0.1')
  await new Promise((resolve) => proxy.once('listening', resolve))
  cleanup.push(() => proxy.close())
  const { pool, transports } = meshPool()
  const proxies = [inPod((proxy.address() as AddressInfo).port, peer)]
  const destination: Destination = {
    ...inPod(80, peer),
    host: 'far.test',
    tunnel: { mode: 'connect', proxies, authorization: undefined },
  }
  expect((await ask(pool, destination, { path: '/x' })).body).toBe('got /x 0')
  expect([peer.asked.length, transports]).toEqual([1, ['tunnel']])
})
