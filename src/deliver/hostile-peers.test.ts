import http2, { type ClientHttp2Session, type ClientHttp2Stream } from 'node:http2'
import { setTimeout as sleep } from 'node:timers/promises'
import { expect, onTestFinished, test } from 'vitest'
import { clock } from '#base/clock.ts'
import { frameMessage } from '#net/grpc/message-frame.ts'
import { FrameClient } from '#net/testing/frame-client.ts'
import { frame as rawFrame } from '#net/testing/frames.ts'
import { eventually } from '#test/support/eventually.ts'
import {
  DELTA_PATH,
  type DiscoveryRequest,
  type DiscoveryResponse,
  decodeResponse,
  encodeRequest,
} from './discovery-messages.ts'
import { ENDPOINTS_TYPE, ITEM_TYPE } from './plan-resource.ts'
import { frame, routeTo, secretItem, startClient, startServer } from './testing.ts'

const PLAN = [...frame(), ...routeTo('a')]
const HEAD = { ':method': 'POST', ':path': DELTA_PATH, 'content-type': 'application/grpc', te: 'trailers' }

function connect(port: number): ClientHttp2Session {
  const session = http2.connect(`http://127.0.0.1:${port}`)
  session.on('error', () => {})
  onTestFinished(() => session.destroy())
  return session
}

/** A client that follows no rules. */
class StrangeClient {
  readonly stream: ClientHttp2Stream
  readonly #pieces: Buffer[] = []
  /** `grpc-status` and `grpc-message`, from the head or the trailers. */
  status: string | undefined
  message: string | undefined
  http: number | undefined
  closed = false

  constructor(port: number, head: http2.OutgoingHttpHeaders = HEAD, session = connect(port)) {
    this.stream = session.request(head)
    const read = (fields: http2.IncomingHttpHeaders) => {
      this.http ??= Number(fields[':status'])
      this.status ??= fields['grpc-status'] as string | undefined
      this.message ??= fields['grpc-message'] as string | undefined
    }
    this.stream
      .on('response', read)
      .on('trailers', read)
      .on('error', () => {})
    this.stream.on('data', (piece: Buffer) => this.#pieces.push(piece))
    this.stream.on('close', () => {
      this.closed = true
    })
  }

  ask(...requests: readonly DiscoveryRequest[]): void {
    for (const request of requests) this.stream.write(frameMessage(encodeRequest(request)))
  }

  /** The responses so far. */
  get responses(): readonly DiscoveryResponse[] {
    const bytes = Buffer.concat(this.#pieces)
    const found: DiscoveryResponse[] = []
    for (let at = 0; at + 5 <= bytes.length; ) {
      const length = bytes.readUInt32BE(at + 1)
      if (at + 5 + length > bytes.length) break
      const decoded = decodeResponse(bytes.subarray(at + 5, at + 5 + length))
      if ('message' in decoded) found.push(decoded.message)
      at += 5 + length
    }
    return found
  }

  async ended(): Promise<string> {
    await eventually('ended', () => this.status !== undefined)
    return `${this.status} ${decodeURIComponent(this.message ?? '')}`
  }
}

test.each<[string, http2.OutgoingHttpHeaders, string]>([
  ['another method', { ...HEAD, ':path': '/a.B/C' }, `12 this server only has ${DELTA_PATH}`],
  [
    'the other variant',
    { ...HEAD, ':path': DELTA_PATH.replace('Delta', 'Stream') },
    `12 this server only has ${DELTA_PATH}`,
  ],
  ['compression', { ...HEAD, 'grpc-encoding': 'gzip' }, '12 this server does not accept compressed messages'],
])('%s is not implemented', async (_, head, end) => {
  const { port, refused } = await startServer(PLAN)
  expect(await new StrangeClient(port, head).ended()).toBe(end)
  expect(refused).toEqual([end.slice(3)])
})

test('what is not gRPC gets an HTTP status', async () => {
  const { port } = await startServer(PLAN)
  const client = new StrangeClient(port, { ':method': 'POST', ':path': DELTA_PATH, 'content-type': 'text/plain' })
  await eventually('answered', () => client.http === 415)
  const response = await fetch(`http://127.0.0.1:${port}/`)
  expect(response.status).toBe(415)
})

const header = (flag: number, length: number) => {
  const bytes = Buffer.alloc(5)
  bytes[0] = flag
  bytes.writeUInt32BE(length, 1)
  return bytes
}

test.each<[string, Buffer, string]>([
  [
    'garbage',
    Buffer.concat([header(0, 4), Buffer.from('\xff\xff\xff\xff', 'latin1')]),
    '3 the message is not a DeltaDiscoveryRequest',
  ],
  ['a compressed message', header(1, 4), '3 the message is compressed'],
  ['an endless message', header(0, 0xffffffff), '3 the message has 4294967295 bytes; the limit is 16777216'],
])('%s ends the stream, and other proxies notice nothing', async (_, bytes, end) => {
  const server = await startServer(PLAN)
  const { client } = startClient(server.url)
  await eventually('ready', () => client.whyNotReady === undefined)
  const strange = new StrangeClient(server.port)
  strange.stream.write(bytes)
  expect(await strange.ended()).toBe(end)
  await eventually('left', () => [...server.server.proxies].length === 1)
  server.edit(routeTo('b'))
  await eventually('current', () => server.proxy()?.isCurrent)
})

test('half of a message at the end', async () => {
  const { port } = await startServer(PLAN)
  const client = new StrangeClient(port)
  client.stream.end(header(0, 9))
  expect(await client.ended()).toBe('3 the last message is incomplete')
})

test('an unknown type ends the stream with the known ones', async () => {
  const { port } = await startServer(PLAN)
  const client = new StrangeClient(port)
  client.ask({ typeUrl: ITEM_TYPE.replace('v1', 'v2') })
  expect(await client.ended()).toBe(
    `3 this server has no resources of that type; it has ${ENDPOINTS_TYPE} and ${ITEM_TYPE}`,
  )
})

test('a wrong nonce acknowledges nothing', async () => {
  const server = await startServer(PLAN)
  const client = new StrangeClient(server.port)
  client.ask({ typeUrl: ITEM_TYPE })
  await eventually('asked', () => client.responses.length === 1)
  client.ask(
    { typeUrl: ITEM_TYPE, responseNonce: 'forged' },
    { typeUrl: ITEM_TYPE },
    { typeUrl: ENDPOINTS_TYPE, responseNonce: '1' },
  )
  server.edit(routeTo('b'))
  await eventually('asked', () => client.responses.length === 2)
  await sleep(50)
  expect(client.responses.map(({ typeUrl }) => typeUrl)).toEqual([ITEM_TYPE, ENDPOINTS_TYPE])
  client.ask(
    { typeUrl: ENDPOINTS_TYPE, responseNonce: client.responses[1]!.nonce },
    { typeUrl: ITEM_TYPE, responseNonce: client.responses[0]!.nonce },
  )
  await eventually('edited', () => client.responses.length === 3)
})

test('a report with nonsense is about its proxy only', async () => {
  const server = await startServer(PLAN)
  const client = new StrangeClient(server.port)
  const metadata = {
    inForce: 1,
    trusts: ['x'],
    bindings: { a: { state: 'x' }, b: { state: 'failed' } },
    facts: [7, { code: 'x' }],
    problems: 'y',
    unreadable: [{}],
  }
  client.ask({ typeUrl: ITEM_TYPE, node: { metadata } })
  const report = await eventually('reported', () => server.proxy()?.report)
  expect(report).toEqual({
    inForce: undefined,
    bindings: new Map([['b', { state: 'failed', reason: '', message: '' }]]),
    facts: [],
    problems: [],
    unreadable: [],
  })
})

test('names and versions that a client claims bring it nothing of other Gateways', async () => {
  const server = await startServer([...PLAN, secretItem('other', { key: 'top-secret' })])
  const client = new StrangeClient(server.port)
  client.ask({
    typeUrl: ITEM_TYPE,
    subscribe: ['Secret/default/other', '*'],
    initialVersions: new Map([['Secret/default/other', 'x']]),
  })
  await eventually('asked', () => client.responses.length === 1)
  expect(client.responses[0]!.removed).toEqual(['Secret/default/other'])
  expect(JSON.stringify(client.responses)).not.toContain(Buffer.from('top-secret').toString('base64').slice(0, 8))
  expect(client.responses[0]!.resources!.map(({ name }) => name)).not.toContain('Secret/default/other')
})

test('too many requests end the stream', async () => {
  const { port } = await startServer(PLAN)
  const client = new StrangeClient(port)
  for (let i = 0; i < 600; i++) client.ask({ typeUrl: ITEM_TYPE })
  expect(await client.ended()).toBe('8 too many requests')
})

test('too many streams of an address are refused, until some end', async () => {
  let asked = 0
  const authorise = () => {
    asked++
    return new Promise<never>(() => {})
  }
  const { port } = await startServer(PLAN, { authorise })
  const sessions = Array.from({ length: 8 }, () => connect(port))
  const clients = sessions.flatMap((one) => Array.from({ length: 16 }, () => new StrangeClient(port, HEAD, one)))
  await eventually('all asked', () => asked === 128)
  const other = connect(port)
  expect(await new StrangeClient(port, HEAD, other).ended()).toBe('8 too many streams from this address')
  clients[0]!.stream.close()
  await eventually('room', () => {
    void new StrangeClient(port, HEAD, other)
    return asked > 128
  })
})

test('too many connections of an address are closed', async () => {
  const { port, refused } = await startServer(PLAN)
  const sessions = Array.from({ length: 200 }, () => connect(port))
  await eventually('closed', () => sessions.some(({ destroyed }) => destroyed))
  expect(refused).toContain('too many connections')
})

test('a client that does not read gets one part, and ends after the time for its acknowledgement', async () => {
  let expire: (() => void) | undefined
  const after = clock.after
  clock.after = (ms, run) => {
    if (ms === 60_000) expire = run
    return after(ms, run)
  }
  onTestFinished(() => {
    clock.after = after
  })
  const secrets = Array.from({ length: 8 }, (_, i) => secretItem(`s${i}`, { key: `${i}`.repeat(700_000) }))
  const server = await startServer([...frame(...secrets.map(({ key }) => key)), ...secrets])
  const client = new StrangeClient(server.port)
  client.stream.pause()
  client.ask({ typeUrl: ITEM_TYPE })
  await eventually('sent', () => expire !== undefined)
  for (let i = 0; i < 50; i++) server.edit([secretItem('s1', { key: `${i}`.repeat(700_000) })])
  await sleep(50)
  expire!()
  await eventually('left', () => server.left.length === 1)
  expect(server.left).toEqual(['it did not read'])
})

test('frames that are not HTTP/2 close their connection only', async () => {
  const server = await startServer(PLAN)
  const { client } = startClient(server.url)
  await eventually('ready', () => client.whyNotReady === undefined)
  const raw = await FrameClient.connect(server.port)
  raw.socket.write(rawFrame(0, 0, 0, Buffer.from('garbage')))
  await raw.untilClosed()
  server.edit(routeTo('b'))
  await eventually('current', () => server.proxy()?.isCurrent)
})
