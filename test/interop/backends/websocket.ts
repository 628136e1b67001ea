import { once } from 'node:events'
import { readFileSync } from 'node:fs'
import http, { type IncomingMessage, type Server } from 'node:http'
import https from 'node:https'
import { createRequire } from 'node:module'
import type { AddressInfo } from 'node:net'
import { join } from 'node:path'
import { eventually } from '../../support/eventually.ts'
import { freePort } from '../../support/free-port.ts'
import { backendYaml } from '../../support/objects-folder.ts'
import { authoritiesYaml } from '../../support/tls-objects.ts'
import { installedNpmPackages } from '../counterparts.ts'
import { proxyBackend, startFront } from '../front.ts'
import type { Transcript } from '../transcript.ts'
import { Authority } from './authority.ts'
import { backendAt } from './backend-at.ts'
import { partFolder, startSquid } from './proxy-software.ts'

/** What is used of the package `ws`. */
interface Ws {
  readonly WebSocket: new (url: string, protocols?: readonly string[], options?: object) => Socket
  readonly WebSocketServer: new (options: object) => NodeJS.EventEmitter & { readonly clients: ReadonlySet<Socket> }
}
interface Socket extends NodeJS.EventEmitter {
  readonly protocol: string
  readonly extensions: string
  send(data: string | Buffer, options?: { readonly fin: boolean }): void
  ping(data: string): void
  close(code?: number, reason?: string): void
  terminate(): void
}

/** The npm package `ws` as server and client, and the client of Node. */
export async function checkWebSocket(transcript: Transcript, stops: AsyncDisposableStack): Promise<void> {
  const folder = installedNpmPackages('npm-websocket', 'ws@8.23.0')
  const ws = createRequire(join(folder, 'package.json'))('ws') as Ws
  const place = { folder: partFolder(stops), ports: [await freePort()] }
  const root = Authority.root(place.folder, 'root')
  const { cert, key } = root.issue('server', { names: 'DNS:server.test' })
  const material = { cert: readFileSync(cert), key: readFileSync(key) }
  const plain = await startServer(ws, http.createServer(), stops)
  const secure = await startServer(ws, https.createServer(material), stops)
  const log = join(place.folder, 'squid', 'access.log')
  const squid = await startSquid(stops, place, [
    `http_port 127.0.0.1:${place.ports[0]}`,
    'logformat seen %rm %ru',
    `access_log stdio:${log} seen`,
    'http_access allow all',
  ])
  const tls = { caCertificateRefs: [{ name: 'trusted' }], sni: 'server.test' }
  const tunnel = { backendRef: proxyBackend('squid') }
  const front = await startFront(
    stops,
    authoritiesYaml('trusted', root.pem),
    backendYaml('squid', place.ports[0]!),
    backendAt('plain', plain.port, {}),
    backendAt('tls', secure.port, { tls }),
    backendAt('squid-plain', plain.port, { tunnel }),
    backendAt('squid-tls', secure.port, { tls, tunnel }),
  )
  const servers = { plain, tls: secure, 'squid-plain': plain, 'squid-tls': secure }
  for (const [name, { clients }] of Object.entries(servers)) {
    const url = `ws://127.0.0.1:${front.port}/${name}`
    const open = async (path = '', protocols: readonly string[] = [], options: object = {}) => {
      const socket = new ws.WebSocket(url + path, protocols, options)
      await once(socket, 'open')
      return socket
    }
    const socket = await open('', ['chat', 'other'])
    transcript.check(
      `${name}: protocol and compression`,
      [socket.protocol, socket.extensions],
      ['chat', 'permessage-deflate'],
    )
    transcript.check(`${name}: text`, await echoed(socket, 'Grüße, 世界'), 'Grüße, 世界')
    const large = 'x'.repeat(3_000_000)
    transcript.check(`${name}: a message of 3 MB, compressed`, (await echoed(socket, large)) === large, true)
    const answer = once(socket, 'message')
    for (const part of ['one ', 'two ']) socket.send(part, { fin: false })
    socket.send('three')
    transcript.check(`${name}: a message in fragments`, String((await answer)[0]), 'one two three')
    const pong = once(socket, 'pong')
    socket.ping('here')
    transcript.check(`${name}: ping`, String((await pong)[0]), 'here')
    socket.close(4001, 'enough')
    transcript.check(`${name}: the client closes`, await closeOf(socket), [4001, 'enough'])

    const bare = await open('', [], { perMessageDeflate: false })
    const bytes = Buffer.alloc(3_000_000, 7)
    const returned = once(bare, 'message')
    bare.send(bytes)
    transcript.check(`${name}: 3 MB of bytes, not compressed`, bytes.equals((await returned)[0] as Buffer), true)
    bare.send('close')
    transcript.check(`${name}: the server closes`, await closeOf(bare), [4002, 'done'])

    const cut = await open()
    cut.send('terminate')
    transcript.check(`${name}: the server is gone`, (await closeOf(cut))[0], 1006)
    const gone = await open()
    gone.terminate()
    const left = await eventually('the server sees it', () => (clients.size === 0 ? 'closed' : undefined))
    transcript.check(`${name}: the client is gone`, left, 'closed')

    const refused = new ws.WebSocket(`${url}/refused`)
    refused.on('error', () => {})
    const [, response] = (await once(refused, 'unexpected-response')) as [unknown, IncomingMessage]
    transcript.check(`${name}: the server refuses`, response.statusCode, 401)
    response.destroy()

    const many = await Promise.all(Array.from({ length: 50 }, () => open()))
    const echoes = await Promise.all(many.map((one, i) => echoed(one, `${i} ${'y'.repeat(20_000)}`)))
    const right = echoes.filter((text, i) => text === `${i} ${'y'.repeat(20_000)}`)
    transcript.check(`${name}: 50 at once`, right.length, 50)
    for (const one of many) one.terminate()

    transcript.check(`${name}: the client of Node`, await askWithNode(url), ['chat', 'hello', 4002])
  }

  await front.gateway.close()
  await squid[Symbol.asyncDispose]()
  // A line begins with `-` for a connection without a request, which looks whether squid listens.
  const lines = readFileSync(log, 'utf8').split('\n')
  const asked = new Set(lines.filter((line) => line !== '' && !line.startsWith('-')))
  const tunnels = [plain, secure].map(({ port }) => `CONNECT 127.0.0.1:${port}`)
  transcript.check('squid: tunnels, and nothing else', [...asked].sort(), tunnels.sort())
}

async function startServer(ws: Ws, server: Server, stops: AsyncDisposableStack) {
  const sockets = new ws.WebSocketServer({
    server,
    perMessageDeflate: true,
    maxPayload: 2 ** 24,
    verifyClient: ({ req }: { readonly req: IncomingMessage }) => !req.url!.endsWith('/refused'),
  })
  sockets.on('connection', (socket: Socket) => {
    socket.on('error', () => {})
    socket.on('message', (data: Buffer, isBinary: boolean) => {
      const text = isBinary ? '' : String(data)
      if (text === 'close') socket.close(4002, 'done')
      else if (text === 'terminate') socket.terminate()
      else socket.send(isBinary ? data : text)
    })
  })
  await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve))
  stops.defer(() => {
    for (const socket of sockets.clients) socket.terminate()
    server.close()
  })
  return { port: (server.address() as AddressInfo).port, clients: sockets.clients }
}

async function echoed(socket: Socket, text: string): Promise<string> {
  const answer = once(socket, 'message')
  socket.send(text)
  return String((await answer)[0])
}

async function closeOf(socket: Socket): Promise<readonly [code: number, reason: string]> {
  const [code, reason] = (await once(socket, 'close')) as [number, Buffer]
  return [code, String(reason)]
}

/** The protocol, the echo and the close code that the WebSocket of Node sees. */
async function askWithNode(url: string): Promise<readonly [protocol: string, text: string, code: number]> {
  const socket = new WebSocket(url, ['chat'])
  let text = ''
  const code = await new Promise<number>((resolve) => {
    socket.addEventListener('open', () => socket.send('hello'))
    socket.addEventListener('message', ({ data }) => {
      text = String(data)
      socket.send('close')
    })
    socket.addEventListener('close', (event) => resolve(event.code))
  })
  return [socket.protocol, text, code]
}
