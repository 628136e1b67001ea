import { createServer, type Socket } from 'node:net'
import { brotliCompressSync, constants, gzipSync } from 'node:zlib'
import { afterAll, beforeAll, expect, test } from 'vitest'
import { type FramePeer, FrameServer } from '#net/testing/frame-server.ts'
import { DATA, END_STREAM } from '#net/testing/frames.ts'
import { RawClient } from '#net/testing/raw-peers.ts'
import { eventually } from '#test/support/eventually.ts'
import { freePort } from '#test/support/free-port.ts'
import { startGateway, type TestGateway } from '#test/support/gateway.ts'
import { createObjectsFolder, gatewayYaml, joinYaml, routeYaml } from '#test/support/objects-folder.ts'
import { policyYaml } from '#test/support/policy-yaml.ts'

// Providers that break the rules of their connection before the first content, and clients that leave while the answer is held.

const chunk = (delta: object, finish: string | null = null) =>
  `data: ${JSON.stringify({ id: 'c', model: 'm', choices: [{ index: 0, delta, finish_reason: finish }] })}\n\n`
const ROLE = chunk({ role: 'assistant', content: '' })
const TEXT = chunk({ content: 'bad' })
const BUSY = 'data: {"error":{"type":"overloaded_error","message":"busy"}}\n\n'
const DONE = 'data: [DONE]\n\n'
const GOOD = ROLE + chunk({ content: 'good' }) + chunk({}, 'stop') + DONE

const SSE = 'content-type: text/event-stream\r\n'
const OPEN = `HTTP/1.1 200 OK\r\n${SSE}transfer-encoding: chunked\r\n\r\n`
const LAST = '0\r\n\r\n'
/** All texts are bytes. */
const piece = (text: string) => `${text.length.toString(16)}\r\n${text}\r\n`
const gzipped = (text: string) => gzipSync(text).toString('latin1')
/** Without the end of the coding: the answer goes on. */
const begun = (text: string) =>
  brotliCompressSync(text, { finishFlush: constants.BROTLI_OPERATION_FLUSH }).toString('latin1')
const compressed = (coding: string) => OPEN.replace('\r\n', `\r\ncontent-encoding: ${coding}\r\n`)

function whole(type: string, body: string, length = body.length): string {
  return `HTTP/1.1 200 OK\r\ncontent-type: ${type}\r\ncontent-length: ${length}\r\n\r\n${body}`
}

/** What the first provider sends over HTTP/1.1, by model, and whether it then ends the connection. */
const SENT: Readonly<Record<string, { readonly text: string; readonly ends?: boolean }>> = {
  'no answer': { text: '', ends: true },
  'no HTTP': { text: 'FOO BAR\r\n\r\n' },
  'half a head': { text: 'HTTP/1.1 200 OK\r\ncontent-', ends: true },
  'two lengths': { text: `HTTP/1.1 200 OK\r\n${SSE}content-length: 5\r\ncontent-length: 6\r\n\r\n` },
  'too many informational heads': { text: 'HTTP/1.1 103 Early Hints\r\n\r\n'.repeat(500) },
  'a length that is too small': { text: whole('text/event-stream', GOOD, 60) },
  'a length that is too large': { text: whole('text/event-stream', ROLE, 9999), ends: true },
  'a broken chunk behind the role': { text: `${OPEN}${piece(ROLE)}zz\r\n` },
  'an error behind comments': { text: OPEN + piece(': ping\n\n').repeat(100) + piece(BUSY) + LAST },
  'an error of 1 MB': { text: OPEN + piece(BUSY.replace('busy', 'x'.repeat(1_000_000))) + LAST },
  'an error in single bytes': { text: OPEN + [...(ROLE + BUSY)].map(piece).join('') + LAST },
  'events that are no objects': { text: OPEN + piece('data: []\n\ndata: null\n\ndata: 5\n\n') + LAST },
  'an error that is no stream': { text: whole('application/json', '{"error":{"type":"overloaded_error"}}') },
  'half an answer that is no stream': { text: whole('application/json', '{"id":"c","choices"', 99), ends: true },
  'an empty answer that is no stream': { text: whole('application/json', '') },
  'a page that is no answer': { text: whole('text/html', '<html>{"choices":[]}</html>') },
  'an answer that ends within its JSON': { text: whole('application/json', '{"id":"c","choices":[') },
  'an upgrade that nobody asked for': {
    text: 'HTTP/1.1 101 Switching Protocols\r\nconnection: upgrade\r\nupgrade: websocket\r\n\r\n',
  },
  'a compressed error': { text: compressed('gzip') + piece(gzipped(ROLE + BUSY)) + LAST },
  'a compressed error in single bytes': {
    text: compressed('gzip') + [...gzipped(ROLE + BUSY)].map(piece).join('') + LAST,
  },
  'a compressed stream that ends after the role': { text: compressed('gzip') + piece(gzipped(ROLE)) + LAST },
  'a compressed stream that breaks off after the role': { text: compressed('br') + piece(begun(ROLE)), ends: true },
  'an open compressed stream': { text: compressed('br') + piece(begun(ROLE + BUSY)) },
  silence: { text: OPEN + piece(ROLE) },
  'a head and silence': { text: OPEN },
  'comments and silence': { text: OPEN + piece(': ping\n\n') },
  'a compressed role and silence': { text: compressed('br') + piece(begun(ROLE)) },
}

const SILENT = Object.keys(SENT).filter((model) => model.endsWith('silence'))
const MOVES = Object.keys(SENT).filter((model) => !SILENT.includes(model) && model !== 'an open compressed stream')

function begin(peer: FramePeer, stream: number, text: string): void {
  peer.head(stream, [
    [':status', '200'],
    ['content-type', 'text/event-stream'],
  ])
  peer.data(stream, text)
}

/** What the first provider does over HTTP/2, by model. */
const FAULTS: Readonly<Record<string, (peer: FramePeer, stream: number) => void>> = {
  'no error before the head': (peer, stream) => peer.reset(stream, 0),
  'an internal error before the head': (peer, stream) => peer.reset(stream, 2),
  'a refused stream': (peer, stream) => peer.reset(stream, 7),
  'a stream refused behind its head': (peer, stream) => {
    begin(peer, stream, ROLE)
    peer.reset(stream, 7)
  },
  'a cancelled stream': (peer, stream) => {
    begin(peer, stream, ROLE)
    peer.reset(stream, 8)
  },
  'no error behind the role': (peer, stream) => {
    begin(peer, stream, ROLE)
    peer.reset(stream, 0)
  },
  'a connection that goes away before': (peer) => {
    peer.goaway(0, 0)
    peer.socket.end()
  },
  'a connection that goes away with an error': (peer, stream) => {
    begin(peer, stream, ROLE)
    peer.goaway(stream, 2)
    peer.socket.end()
  },
  'data before the head': (peer, stream) => peer.data(stream, ROLE),
  'more than its length': (peer, stream) => {
    peer.head(stream, [
      [':status', '200'],
      ['content-type', 'text/event-stream'],
      ['content-length', '5'],
    ])
    peer.data(stream, ROLE + TEXT, END_STREAM)
  },
}

const stops = new AsyncDisposableStack()
let gateway: TestGateway
let port: number
const asked: string[] = []
/** Connections of the gateway to the first provider. */
const open = new Set<Socket>()

function serveBadly(socket: Socket): void {
  open.add(socket)
  socket.on('close', () => open.delete(socket))
  socket.on('error', () => {})
  let received = ''
  socket.on('data', (bytes) => {
    received += bytes
    const [, model] = /"model":"([^"]*)"/.exec(received) ?? []
    if (model === undefined || !received.endsWith('}')) return
    received = ''
    asked.push(`first ${model}`)
    const { text, ends } = SENT[model]!
    if (ends === true) socket.end(text, 'latin1')
    else socket.write(text, 'latin1')
  })
}

async function startRaw(serve: (socket: Socket) => void): Promise<number> {
  const server = createServer(serve)
  await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve))
  stops.defer(() => new Promise((resolve) => void server.close(() => resolve())))
  return (server.address() as { port: number }).port
}

async function startFrames(answer: (peer: FramePeer, stream: number, model: string) => void): Promise<number> {
  const server = await new FrameServer((peer) => {
    peer.settings()
    peer.onData = (stream) => {
      const sent = Buffer.concat(peer.of(DATA, stream).map(({ payload }) => payload)).toString()
      if (sent.endsWith('}')) answer(peer, stream, /"model":"([^"]*)"/.exec(sent)![1]!)
    }
  }).start()
  stops.defer(async () => server.close())
  return server.destination.port
}

beforeAll(async () => {
  stops.defer(async () => {
    for (const socket of open) socket.destroy()
  })
  const first = await startRaw(serveBadly)
  const second = await startRaw((socket) => {
    socket.on('error', () => {})
    let received = ''
    socket.on('data', (bytes) => {
      received += bytes
      if (!received.endsWith('}')) return
      received = ''
      asked.push('second')
      socket.write(OPEN + piece(GOOD) + LAST)
    })
  })
  const firstFrames = await startFrames((peer, stream, model) => {
    asked.push(`first ${model}`)
    FAULTS[model]!(peer, stream)
  })
  const secondFrames = await startFrames((peer, stream) => {
    asked.push('second')
    begin(peer, stream, GOOD)
    peer.data(stream, '', END_STREAM)
  })
  port = await freePort()
  const backend = (name: string, ports: readonly number[], policies: object) => {
    const groups = ports.map((at, i) => ({
      providers: [{ name: `p${i}`, providerOne: {}, host: '127.0.0.1', port: at }],
    }))
    return `
apiVersion: gatewright.dev/v1alpha1
kind: ProxyBackend
metadata: { name: ${name} }
spec: ${JSON.stringify({ ai: { groups }, policies })}
`
  }
  const ai = { routes: { '/messages': 'Messages', '/completions': 'Completions' } }
  const retry = { attempts: 1, codes: [529, 502] }
  const objects = await createObjectsFolder({
    'all.yaml': joinYaml(
      gatewayYaml(port),
      backend('http1', [first, second], { ai }),
      routeYaml('http1', '/http1', 'http1'),
      policyYaml('http1', 'HTTPRoute', 'http1', { traffic: { retry } }),
      backend('http2', [firstFrames, secondFrames], { ai, http: { version: 'HTTP2' } }),
      routeYaml('http2', '/http2', 'http2'),
      policyYaml('http2', 'HTTPRoute', 'http2', { traffic: { retry } }),
      backend('limited', [first, second], { ai }),
      routeYaml('limited', '/limited', 'limited'),
      policyYaml('limited', 'HTTPRoute', 'limited', { traffic: { retry, timeouts: { request: '300ms' } } }),
      backend('impatient', [first, second], { ai, http: { requestTimeout: '200ms' } }),
      routeYaml('impatient', '/impatient', 'impatient'),
      policyYaml('impatient', 'HTTPRoute', 'impatient', { traffic: { retry } }),
    ),
  })
  stops.defer(objects.remove)
  gateway = await startGateway({ files: [objects.path], workers: 1 })
  stops.defer(async () => void (await gateway.close()))
})

afterAll(() => stops.disposeAsync())

function bodyOf(model: string): string {
  return JSON.stringify({ model, stream: true, max_tokens: 5, messages: [{ role: 'user', content: 'Hi' }] })
}

async function ask(path: string, model: string): Promise<[status: number, text: string]> {
  const response = await fetch(`${gateway.url(port)}${path}`, { method: 'POST', body: bodyOf(model) })
  return [response.status, await response.text()]
}

interface Recorded {
  readonly status: number
  readonly code: string
  readonly detail: string
  readonly attempts: readonly { readonly status: number; readonly detail?: string }[]
}

async function records(count: number): Promise<readonly Recorded[]> {
  const answer = await fetch(`${gateway.url(15_000)}/decisions?limit=${count}`)
  return (await answer.json()) as readonly Recorded[]
}

test.each([...MOVES.map((model) => ['/http1', model]), ...Object.keys(FAULTS).map((model) => ['/http2', model])])(
  '%s, %s: the next provider answers, whatever the dialect',
  async (path, model) => {
    asked.length = 0
    expect(await ask(`${path}/completions`, model!)).toEqual([200, GOOD])
    const [status, text] = await ask(`${path}/messages`, model!)
    expect([status, text.includes('"text":"good"'), text.includes('bad')]).toEqual([200, true, false])
    expect(asked).toEqual([`first ${model}`, 'second', `first ${model}`, 'second'])
  },
)

test('a compressed error is known before its stream ends', async () => {
  expect(await ask('/http1/completions', 'an open compressed stream')).toEqual([200, GOOD])
  await eventually('no connection to the provider', () => open.size === 0 || undefined)
})

test.each(SILENT)('%s: the next provider answers after requestTimeout, whatever the dialect', async (model) => {
  asked.length = 0
  expect(await ask('/impatient/completions', model)).toEqual([200, GOOD])
  const [status, text] = await ask('/impatient/messages', model)
  expect([status, text.includes('"text":"good"')]).toEqual([200, true])
  expect(asked).toEqual([`first ${model}`, 'second', `first ${model}`, 'second'])
  const [record] = await records(1)
  expect(record!.attempts[0]!.detail).toBe('no content within 200 ms (backend.http.requestTimeout)')
  await eventually('no connection to the provider', () => open.size === 0 || undefined)
})

test.each(['/impatient/completions', '/impatient/messages'])(
  '%s: so it does if the provider streams for a client that asked for a whole answer',
  async (path) => {
    const body = bodyOf(SILENT[0]!).replace('"stream":true', '"stream":false')
    const response = await fetch(`${gateway.url(port)}${path}`, { method: 'POST', body })
    expect([response.status, await response.text()]).toEqual([200, expect.stringMatching(/^\{.*:"good"/)])
  },
)

test('the record says how a stream broke, translated or not', async () => {
  for (const path of ['/http1/completions', '/http1/messages']) {
    await ask(path, 'a length that is too large')
    const [record] = await records(1)
    expect(record!.attempts[0]!.detail).toBe("the provider's stream ended early: reset")
  }
})

test.each(['/limited/completions', '/limited/messages'])(
  '%s: a request whose time is up while its answer is held gets one response, and so does the next one',
  async (path) => {
    const client = await RawClient.connect(Number(new URL(gateway.url(port)).port))
    const body = bodyOf('silence')
    const request = `POST ${path} HTTP/1.1\r\nhost: x\r\ncontent-length: ${body.length}\r\n\r\n${body}`
    for (const count of [1, 2]) {
      client.send(request)
      await client.until((text) => text.split('"code":"request-timeout"').length === count + 1 && text.endsWith('}'))
    }
    expect(client.text.match(/HTTP\/1\.1 \d+/g)).toEqual(['HTTP/1.1 504', 'HTTP/1.1 504'])
    client.close()
    expect((await records(2)).map(({ status, code }) => [status, code])).toEqual([
      [504, 'request-timeout'],
      [504, 'request-timeout'],
    ])
    await eventually('no connection to the provider', () => open.size === 0 || undefined)
  },
)

test.each(['/http1/completions', '/http1/messages'])(
  '%s: a client that leaves while its answer is held, with another request behind it, ends the request to the provider',
  async (path) => {
    const client = await RawClient.connect(Number(new URL(gateway.url(port)).port))
    const body = bodyOf('silence')
    asked.length = 0
    client.send(`POST ${path} HTTP/1.1\r\nhost: x\r\ncontent-length: ${body.length}\r\n\r\n${body}`.repeat(2))
    await eventually('the first request', () => asked.length === 1 || undefined)
    client.socket.end()
    await eventually('no connection to the provider', () => open.size === 0 || undefined)
    expect(asked).toEqual(['first silence'])
    await eventually('the record', async () => {
      const [record] = await records(1)
      return record!.detail === 'client connection ended: reset' || undefined
    })
    client.close()
  },
)
