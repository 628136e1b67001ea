import { execFileSync } from 'node:child_process'
import { afterAll, beforeAll, expect, test } from 'vitest'
import { type Accepted, RawClient, RawServer } from '#net/testing/raw-peers.ts'
import { eventually } from '#test/support/eventually.ts'
import { freePort } from '#test/support/free-port.ts'
import { type GatewayProcess, startGatewayProcess } from '#test/support/gateway-process.ts'
import { createObjectsFolder, gatewayYaml, joinYaml, routeYaml } from '#test/support/objects-folder.ts'

// Clients and providers that misuse the sessions of the realtime API. Their bytes pass, in bounded memory, and nothing of them is left.

const stops = new AsyncDisposableStack()
let gateway: GatewayProcess
let port: number
/** Connections of the gateway to the provider. */
const atProvider: Accepted[] = []

const ACCEPT =
  'HTTP/1.1 101 Switching Protocols\r\nconnection: Upgrade\r\nupgrade: websocket\r\nsec-websocket-accept: x\r\n\r\n'
const GUARD = { request: [{ regex: { matches: ['k-\\d+'] } }] }

function backendOf(name: string, providerPort: number, more: object): string {
  const ai = { provider: { providerOne: {}, host: '127.0.0.1', port: providerPort } }
  const policies = { ai: { routes: { '*': 'Realtime' }, ...more } }
  const object = { apiVersion: 'gatewright.dev/v1alpha1', kind: 'ProxyBackend', metadata: { name } }
  return `\n${JSON.stringify({ ...object, spec: { ai, policies } })}\n`
}

beforeAll(async () => {
  const provider = await new RawServer((peer) => {
    atProvider.push(peer)
    void peer
      .until((text) => text.includes('\r\n\r\n'))
      .then((text) => {
        if (!text.includes('model=silent')) peer.send(ACCEPT)
      })
      .catch(() => {})
    peer.socket.on('end', () => peer.socket.end())
  }).start()
  stops.defer(() => provider.close())
  port = await freePort()
  const folder = await createObjectsFolder({
    'all.yaml': joinYaml(
      gatewayYaml(port),
      backendOf('plain', provider.port, {}),
      backendOf('guarded', provider.port, { promptGuard: GUARD }),
      backendOf('typed', provider.port, { promptGuard: GUARD, routes: { '/responses': 'Responses' } }),
      routeYaml('plain', '/plain', 'plain'),
      routeYaml('guarded', '/guarded', 'guarded'),
      routeYaml('typed', '/typed', 'typed'),
    ),
  })
  stops.defer(folder.remove)
  gateway = await startGatewayProcess({ files: [folder.path], workers: 1 })
  stops.defer(async () => void (await gateway.close()))
})

afterAll(() => stops.disposeAsync())

const handshake = (target: string) =>
  `GET ${target} HTTP/1.1\r\nhost: x\r\nconnection: Upgrade\r\nupgrade: websocket\r\nsec-websocket-version: 13\r\nsec-websocket-key: dGhlIHNhbXBsZSBub25jZQ==\r\n\r\n`

/** Begins a session. @param early what the client sends behind its request */
async function ask(target: string, early = ''): Promise<{ client: RawClient; provider: Accepted }> {
  const before = atProvider.length
  const client = await RawClient.connect(port)
  stops.defer(() => client.close())
  client.send(handshake(target) + early)
  await eventually('the provider is asked', () => atProvider.length > before || undefined)
  return { client, provider: atProvider.at(-1)! }
}

async function open(target: string, early = '') {
  const session = await ask(target, early)
  await session.client.until((text) => text.includes('\r\n\r\n'))
  return session
}

function lineOf(target: string): Promise<string> {
  return eventually(`the log has ${target}`, () =>
    gateway.output.stdout.split('\n').find((line) => line.includes(`http.path="${target}"`)),
  )
}

const residentMb = () =>
  Number(execFileSync('ps', ['-o', 'rss=', '-p', String(gateway.process.pid)], { encoding: 'utf8' })) / 1024

/** A frame; clients mask with zeros. */
function frame(first: number, payload: string, masked = false): string {
  const { length } = payload
  const mask = masked ? 0x80 : 0
  const sizes = length < 126 ? [mask | length] : [mask | 126, length >> 8, length & 255]
  return String.fromCharCode(first, ...sizes) + (masked ? '\0\0\0\0' : '') + payload
}

const PING = 0x89
const TEXT = 0x81
const USAGE = frame(
  TEXT,
  '{"type":"response.done","response":{"id":"r","usage":{"total_tokens":3,"input_tokens":1,"output_tokens":2}}}',
)

test('a route of another type opens no tunnel behind its guards', async () => {
  const body = '{"model":"m","input":"k-1"}'
  const request = (method: string, more = '') =>
    handshake('/typed/responses').replace('GET', method).replace('\r\n\r\n', `\r\n${more}\r\n`)
  const opening = await RawClient.connect(port)
  stops.defer(() => opening.close())
  opening.send(request('GET'))
  expect(await opening.until((text) => text.includes('\r\n\r\n'))).toContain('426 Upgrade Required')
  const before = atProvider.length
  const asking = await RawClient.connect(port)
  stops.defer(() => asking.close())
  asking.send(request('POST', `content-length: ${body.length}\r\n`) + body)
  expect(await asking.until((text) => text.includes('upgrade-failed'))).toContain('502 Bad Gateway')
  expect(atProvider).toHaveLength(before + 1)
  expect(atProvider.at(-1)!.text).not.toMatch(/upgrade|k-1/i)
})

test.each(['/plain', '/guarded'])('%s: a flood of pings passes, and the session goes on', async (path) => {
  const target = `${path}/realtime?model=pings`
  const { client, provider } = await open(target)
  const head = provider.text.length
  const pings = frame(PING, 'p', true).repeat(30_000)
  client.send(pings)
  client.send(frame(TEXT, '{"type":"response.create"}', true))
  await provider.until((text) => text.includes('response.create') || text.length > head + pings.length)
  expect(provider.text.length).toBeGreaterThan(head + pings.length)
  provider.send(USAGE)
  await client.untilLast(USAGE)
  client.close()
  expect(await lineOf(target)).toContain('gen_ai.usage.output_tokens=2')
})

test.each(['/plain', '/guarded'])('%s: a provider that does not read stops a flood', async (path) => {
  const { client, provider } = await open(`${path}/realtime?model=unread`)
  provider.socket.pause()
  const before = residentMb()
  const pings = Buffer.from(frame(PING, 'p'.repeat(100), true).repeat(10_000), 'latin1')
  for (let i = 0; i < 40; i++) client.socket.write(pings)
  const other = await open('/plain/realtime?model=beside')
  other.client.close()
  expect(client.socket.writableLength).toBeGreaterThan(10_000_000)
  expect(residentMb() - before).toBeLessThan(60)
  client.close()
  await eventually('the provider is left', () => provider.socket.resume().destroyed || provider.ended || undefined)
})

test('a message in endless fragments is not kept, and what follows it is read', async () => {
  const target = '/plain/realtime?model=fragments'
  const { client, provider } = await open(target)
  const before = residentMb()
  const part = 'x'.repeat(60_000)
  provider.send(frame(0x01, part))
  for (let i = 0; i < 500; i++) provider.send(frame(0x00, part))
  provider.send(frame(0x80, '') + USAGE)
  await client.untilLast(USAGE)
  expect(residentMb() - before).toBeLessThan(100)
  client.close()
  const line = await lineOf(target)
  expect(line).toContain('gen_ai.usage.output_tokens=2')
  expect(line).toContain('messages that exceeded a limit of memory: 1')
})

test.each<[name: string, bytes: string, problem: string | undefined]>([
  ['huge', '\x81\x7f\x7f\xff\xff\xff\xff\xff\xff\xffabc', 'not all of the session was read'],
  ['negative', '\x81\x7f\xff\xff\xff\xff\xff\xff\xff\xffabc', 'not all of the session was read'],
  ['ping', `\x89\x7e\x00\xff${'p'.repeat(255)}`, 'not all of the session was read'],
  ['split', '\x09\x01p', 'not all of the session was read'],
  ['beginning', frame(0x80, 'a'), 'not all of the session was read'],
  ['reserved', frame(0x83, 'a'), 'not all of the session was read'],
  ['half', frame(TEXT, 'x'.repeat(1000)).slice(0, 500), undefined],
])('the provider sends a frame that is %s, and goes', async (name, bytes, problem) => {
  const target = `/plain/realtime?model=${name}`
  const { client, provider } = await open(target)
  provider.send(bytes)
  await client.until((text) => text.endsWith(bytes))
  provider.close()
  await client.untilEnd()
  const line = await lineOf(target)
  if (problem === undefined) expect(line).not.toContain('not all of the session')
  else expect(line).toContain(problem)
})

test.each(['/plain', '/guarded'])(
  '%s: a client that leaves in the middle of a frame, or ends its direction',
  async (path) => {
    for (const leave of [(client: RawClient) => client.close(), (client: RawClient) => client.socket.end()]) {
      const { client, provider } = await open(`${path}/realtime?model=left`)
      client.send(frame(TEXT, 'x'.repeat(1000), true).slice(0, 500))
      leave(client)
      await provider.untilEnd()
      await client.untilEnd()
    }
  },
)

test('a client that leaves before its upgrade is answered ends the request to the provider', async () => {
  for (const leave of [(client: RawClient) => client.close(), (client: RawClient) => client.socket.end()]) {
    const { client, provider } = await ask('/plain/realtime?model=silent')
    leave(client)
    await provider.untilEnd()
    client.close()
  }
})

test.each(['/plain', '/guarded'])('%s: frames behind the request and behind the 101 arrive', async (path) => {
  const early = frame(TEXT, '{"type":"early"}', true)
  const { client, provider } = await open(`${path}/realtime?model=early`, early)
  await provider.until((text) => text.includes('{"type":"early"}'))
  provider.send(USAGE)
  await client.untilLast(USAGE)
  client.close()
})

test('nothing is left', async () => {
  await eventually('no connection to the provider', () => {
    for (const { socket } of atProvider) socket.resume()
    return atProvider.every(({ ended }) => ended) || undefined
  })
})
