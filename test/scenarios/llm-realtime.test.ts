import { once } from 'node:events'
import { createServer, type IncomingHttpHeaders } from 'node:http'
import type { AddressInfo } from 'node:net'
import OpenAI from 'openai'
import { OpenAIRealtimeWS } from 'openai/realtime/ws'
import type { ConversationItemCreateEvent } from 'openai/resources/realtime/realtime'
import { afterAll, beforeAll, beforeEach, expect, test } from 'vitest'
import { WebSocket as Client, type ClientOptions, type RawData, WebSocketServer } from 'ws'
import { CERTIFICATES } from '#net/testing/certificates.ts'
import { eventually } from '#test/support/eventually.ts'
import { freePort } from '#test/support/free-port.ts'
import { startGateway, type TestGateway } from '#test/support/gateway.ts'
import { createObjectsFolder, joinYaml, listenersYaml, routeYaml } from '#test/support/objects-folder.ts'
import { policyYaml } from '#test/support/policy-yaml.ts'
import { tlsSecretYaml } from '#test/support/tls-objects.ts'
import { verifies } from '#test/support/verifies.ts'

// Sessions of the realtime API, with the vendor's own client and another implementation of WebSockets at both ends.

const stops = new AsyncDisposableStack()
const ROUTES = { '/realtime': 'Realtime' }
let gateway: TestGateway
let port: number
let securePort: number
/** The last handshake at the provider, and its connection. */
let got: { path: string | undefined; headers: IncomingHttpHeaders }
let provider: Client

const USAGE = {
  total_tokens: 30,
  input_tokens: 20,
  output_tokens: 10,
  input_token_details: { cached_tokens: 5, audio_tokens: 12 },
  output_token_details: { audio_tokens: 6 },
}

/** Answers each request for a response, and returns everything else. Would compress. */
async function startProvider(): Promise<number> {
  const server = createServer()
  const sockets = new WebSocketServer({
    noServer: true,
    perMessageDeflate: { threshold: 0 },
    handleProtocols: (protocols) => (protocols.has('realtime') ? 'realtime' : false),
  })
  server.on('upgrade', (request, socket, head) => {
    got = { path: request.url, headers: request.headers }
    if (request.headers['x-refuse'] !== undefined) {
      const error = '{"error":{"message":"slow down","code":"x"}}'
      socket.end(`HTTP/1.1 429 Too Many Requests\r\nretry-after: 7\r\ncontent-length: ${error.length}\r\n\r\n${error}`)
      return
    }
    sockets.handleUpgrade(request, socket, head, (connection) => {
      provider = connection
      connection.send(JSON.stringify({ type: 'session.created', session: { model: 'gpt-realtime-1' } }))
      connection.on('message', (data: RawData, isBinary) => {
        const text = isBinary ? '' : data.toString()
        if (!text.includes('"response.create"')) return connection.send(data, { binary: isBinary })
        connection.send(JSON.stringify({ type: 'response.output_text.delta', delta: 'hello' }))
        connection.send(JSON.stringify({ type: 'response.done', response: { id: 'resp-1', usage: USAGE } }))
      })
      connection.on('error', () => {})
    })
  })
  await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve))
  stops.defer(() => {
    for (const socket of sockets.clients) socket.terminate()
    server.close()
  })
  return (server.address() as AddressInfo).port
}

const GUARDS = {
  request: [
    { regex: { matches: ['k-\\d+'] } },
    { regex: { action: 'Reject', matches: ['forbidden'] }, response: { message: 'Not that.' } },
  ],
}
const JUDGE = {
  backendRef: { name: 'judge', port: 80 },
  forwardHeaderMatches: [{ name: 'Authorization', type: 'RegularExpression', value: '.*' }],
}

/** The texts that the guard server was asked about, and what it says: at once, or when the test calls `answer`. */
const judged: string[] = []
const judgedFor = new Set<string | undefined>()
let answer: (() => void) | undefined

/** Passes all texts; about `slow` only when the test says so, and fails at `broken`. */
async function startJudge(): Promise<number> {
  const server = createServer(async (request, response) => {
    let text = ''
    for await (const bytes of request) text += bytes
    const content: string = JSON.parse(text).body.messages[0].content
    judged.push(content)
    judgedFor.add(request.headers.authorization)
    if (content === 'slow') {
      await new Promise<void>((resolve) => {
        answer = resolve
      })
    }
    response.writeHead(content === 'broken' ? 500 : 200, { 'content-type': 'application/json' }).end('{"action":{}}')
  })
  await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve))
  stops.defer(() => {
    server.closeAllConnections()
    server.close()
  })
  return (server.address() as AddressInfo).port
}

/** A Service with one endpoint on this machine. */
function serviceYaml(name: string, endpointPort: number): string {
  const objects = [
    { apiVersion: 'v1', kind: 'Service', metadata: { name }, spec: { ports: [{ port: 80 }] } },
    {
      apiVersion: 'discovery.k8s.io/v1',
      kind: 'EndpointSlice',
      metadata: { name, labels: { 'kubernetes.io/service-name': name } },
      addressType: 'IPv4',
      endpoints: [{ addresses: ['127.0.0.1'] }],
      ports: [{ port: endpointPort }],
    },
  ]
  return objects.map((object) => `\n${JSON.stringify(object)}\n`).join('---')
}

function aiYaml(name: string, kind: string, backendPort: number, policies: object = {}, settings: object = {}): string {
  const ai = { provider: { [kind]: {}, host: '127.0.0.1', port: backendPort } }
  const routes = { routes: ROUTES, modelAliases: { fast: 'gpt-realtime' }, ...settings }
  return `
apiVersion: gatewright.dev/v1alpha1
kind: ProxyBackend
metadata: { name: ${name} }
spec: ${JSON.stringify({ ai, policies: { ai: routes, ...policies } })}
`
}

beforeAll(async () => {
  const providerPort = await startProvider()
  port = await freePort()
  securePort = await freePort()
  const folder = await createObjectsFolder({
    'all.yaml': joinYaml(
      listenersYaml('main', [
        `{ name: http, protocol: HTTP, port: ${port} }`,
        `{ name: https, protocol: HTTPS, port: ${securePort}, tls: { certificateRefs: [{ name: door }] } }`,
      ]),
      tlsSecretYaml('door', CERTIFICATES.server),
      aiYaml('own-keys', 'providerOne', providerPort),
      routeYaml('own-keys', '/own-keys', 'own-keys'),
      aiYaml('with-key', 'providerOne', providerPort, { auth: { key: 'sk-gateway' } }),
      routeYaml('with-key', '/with-key', 'with-key'),
      ...['limited', 'left'].flatMap((name) => [
        routeYaml(name, `/${name}`, 'with-key'),
        policyYaml(name, 'HTTPRoute', name, { traffic: { rateLimit: { local: [{ tokens: 50, unit: 'Hours' }] } } }),
      ]),
      aiYaml('guarded', 'providerOne', providerPort, {}, { promptGuard: GUARDS }),
      routeYaml('guarded', '/guarded', 'guarded'),
      serviceYaml('judge', await startJudge()),
      aiYaml(
        'judged',
        'providerOne',
        providerPort,
        { auth: { key: 'sk-gateway' } },
        { promptGuard: { request: [{ webhook: JUDGE }] } },
      ),
      routeYaml('judged', '/judged', 'judged'),
      aiYaml('four', 'providerFour', providerPort),
      routeYaml('four', '/four', 'four'),
    ),
  })
  stops.defer(folder.remove)
  gateway = stops.use(await startGateway({ files: [folder.path], workers: 1 }))
})

afterAll(() => stops.disposeAsync())

beforeEach(() => {
  got = { path: undefined, headers: {} }
})

/** Connects without TLS, and fails with the status of a refusal. */
function connect(path: string, options: ClientOptions = {}, protocols: string[] = []): Promise<Client> {
  const client = new Client(`ws://127.0.0.1:${port}${path}`, protocols, options)
  stops.defer(() => client.terminate())
  return new Promise((resolve, reject) => {
    client.on('unexpected-response', (_, response) => {
      let text = ''
      response.on('data', (bytes) => {
        text += bytes
      })
      response.on('end', () => reject(new Error(`${response.statusCode} ${text}`)))
    })
    client.on('error', reject)
    // The provider speaks first.
    client.once('message', () => resolve(client))
  })
}

/** Waits for the answer to a request for a response. */
function respond(client: Client): Promise<void> {
  return new Promise((resolve) => {
    client.on('message', (data) => {
      if (String(data).includes('"response.done"')) resolve()
    })
    client.send('{"type":"response.create"}')
  })
}

/** The line of the log about a request for this path. */
function lineOf(path: string): Promise<string> {
  return eventually(`the log has ${path}`, () =>
    gateway.output.stdout.split('\n').find((line) => line.includes(`http.path="${path}"`)),
  )
}

async function counted(metric: string): Promise<string[]> {
  const text = await (await fetch(`${gateway.url(15020)}/metrics`)).text()
  return text.split('\n').filter((line) => line.startsWith(metric) && line.includes('="realtime"'))
}

verifies('llm.routes/realtime', 'the official client talks to a model in a session', async () => {
  const session = new OpenAIRealtimeWS(
    {
      model: 'fast',
      options: { ca: CERTIFICATES.ca, perMessageDeflate: true, headers: { 'openai-beta': 'realtime=v1' } },
    },
    new OpenAI({ apiKey: 'sk-client', baseURL: `https://127.0.0.1:${securePort}/with-key/v1` }),
  )
  const events: string[] = []
  session.on('event', ({ type }) => events.push(type))
  let left = 2
  await new Promise<void>((resolve, reject) => {
    session.on('error', reject)
    session.on('session.created', () => session.send({ type: 'response.create' }))
    session.on('response.done', () => {
      if (--left > 0) session.send({ type: 'response.create' })
      else resolve()
    })
  })
  session.close({ code: 4001, reason: 'enough' })
  const [code, reason] = await once(session.socket, 'close')
  expect([code, String(reason)]).toEqual([4001, 'enough'])
  const answer = ['response.output_text.delta', 'response.done']
  expect(events).toEqual(['session.created', ...answer, ...answer])
  expect(got.path).toBe('/v1/realtime?model=gpt-realtime')
  expect(got.headers).toMatchObject({ authorization: 'Bearer sk-gateway', 'openai-beta': 'realtime=v1' })
  expect(got.headers['sec-websocket-extensions']).toBeUndefined()

  const line = await lineOf('/with-key/v1/realtime?model=fast')
  for (const field of [
    'http.status=101',
    'gen_ai.operation.name=realtime',
    'gen_ai.request.model=gpt-realtime ',
    'gen_ai.response.model=gpt-realtime-1',
    'gen_ai.usage.input_tokens=40',
    'gen_ai.usage.output_tokens=20',
    'gen_ai.usage.cache_read.input_tokens=10',
    'gen_ai.usage.input_audio_tokens=24',
    'gen_ai.usage.output_audio_tokens=12',
    'websocket.close_code=4001',
  ]) {
    expect(line).toContain(field)
  }
  expect(line).not.toContain('error=')
  const sums = await counted('gatewright_gen_ai_client_token_usage_sum')
  expect(sums.map((sum) => [/gen_ai_token_type="(\w+)"/.exec(sum)?.[1], sum.split(' ').at(-1)])).toEqual(
    expect.arrayContaining([
      ['input', '40'],
      ['output', '20'],
    ]),
  )
})

test('frames of every kind pass both ways', async () => {
  const client = await connect('/own-keys/realtime?model=m')
  const received: (readonly [string | number, boolean])[] = []
  client.on('message', (data: Buffer, isBinary) => {
    received.push([data.length > 100 ? data.length : String(data), isBinary])
  })
  const pinged = once(provider, 'ping')
  client.send('{"a', { fin: false })
  client.ping('between')
  client.send('":1}', { fin: true })
  client.send(Buffer.alloc(70_000), { binary: true })
  client.send('x'.repeat(3_000_000))
  expect(String((await pinged)[0])).toBe('between')
  const ponged = once(provider, 'pong')
  provider.ping('back')
  expect(String((await ponged)[0])).toBe('back')
  await eventually('all arrived', () => received.length === 3)
  expect(received).toEqual([
    ['{"a":1}', false],
    [70_000, true],
    [3_000_000, false],
  ])
  provider.close(4321, 'over')
  const [code, reason] = await once(client, 'close')
  expect([code, String(reason)]).toEqual([4321, 'over'])
  const line = await lineOf('/own-keys/realtime?model=m')
  expect(line).toContain('websocket.close_code=4321')
  // The text of 3 MB is over the limit of bodies.
  expect(line).toContain('error="not all of the session was read: messages that exceeded a limit of memory: 1"')
})

test('the key of a browser is for the provider only if the gateway has none', async () => {
  const protocols = ['realtime', 'openai-insecure-api-key.sk-browser', 'openai-beta.realtime-v1']
  for (const [path, sent] of [
    ['/own-keys/realtime?model=b', 'realtime,openai-insecure-api-key.sk-browser,openai-beta.realtime-v1'],
    ['/with-key/realtime?model=b', 'realtime,openai-beta.realtime-v1'],
  ] as const) {
    const socket = new WebSocket(`ws://127.0.0.1:${port}${path}`, protocols)
    await once(socket, 'open')
    expect(socket.protocol).toBe('realtime')
    expect(got.headers['sec-websocket-protocol']?.replaceAll(' ', '')).toBe(sent)
    socket.close()
    await once(socket, 'close')
  }
  expect(gateway.output.stdout + gateway.output.stderr).not.toContain('sk-browser')
})

test('a used-up token limit refuses new sessions, and does not end the ones that run', async () => {
  const running = await connect('/limited/realtime?model=a')
  const another = await connect('/limited/realtime?model=b')
  await respond(running)
  const third = await connect('/limited/realtime?model=c')
  third.close()
  await respond(another)
  await expect(connect('/limited/realtime?model=d')).rejects.toThrow(
    /^429 \{"error":\{"message":"rate limit exceeded: 50 tokens per hour; wait until [^"]*Z","type":"rate_limit_error","param":null,"code":"rate-limited"\}\}$/,
  )
  await respond(running)
  running.close()
  another.close()
  expect(await lineOf('/limited/realtime?model=a')).toContain('gen_ai.usage.input_tokens=40')
  expect(await lineOf('/limited/realtime?model=c')).not.toContain('gen_ai.usage')
})

test('a client that leaves within a response is charged for what it got of it', async () => {
  const client = await connect('/left/realtime?model=a')
  // The provider sends it back.
  client.send(JSON.stringify({ type: 'response.output_text.delta', response_id: 'r', delta: 'one two '.repeat(100) }))
  await new Promise((resolve) => client.once('message', resolve))
  client.terminate()
  const line = await lineOf('/left/realtime?model=a')
  expect(line).toContain('gen_ai.usage.output_tokens=200')
  expect(line).toContain('gatewright.ai.usage.estimated=true')
  await expect(connect('/left/realtime?model=b')).rejects.toThrow('429')
})

test('a side that is gone ends the other one', async () => {
  const first = await connect('/own-keys/realtime?model=gone-provider')
  const closed = once(first, 'close')
  provider.terminate()
  expect((await closed)[0]).toBe(1006)
  expect(await lineOf('/own-keys/realtime?model=gone-provider')).not.toContain('close_code')

  const second = await connect('/own-keys/realtime?model=gone-client')
  const ended = once(provider, 'close')
  second.terminate()
  expect((await ended)[0]).toBe(1006)
  await lineOf('/own-keys/realtime?model=gone-client')
})

test('refusals: by the provider, by the gateway', async () => {
  await expect(connect('/own-keys/realtime?model=m', { headers: { 'x-refuse': '1' } })).rejects.toThrow(
    '429 {"error":{"message":"slow down","code":"x"}}',
  )
  await expect(connect('/four/realtime?model=m')).rejects.toThrow(/^501 .*"llm-not-implemented"/)
  await expect(connect('/own-keys/realtime')).rejects.toThrow(/^400 .*"llm-model-missing"/)
  const plain = await fetch(`http://127.0.0.1:${port}/own-keys/realtime?model=m`)
  expect([plain.status, plain.headers.get('allow')]).toEqual([405, 'GET'])
})

const item = (text: string, more: object = {}): ConversationItemCreateEvent => ({
  type: 'conversation.item.create',
  ...more,
  item: { type: 'message', role: 'user', content: [{ type: 'input_text', text }] },
})

test('guards check the events of the official client: masks, a rejection as an error event, and the session goes on', async () => {
  const session = new OpenAIRealtimeWS(
    { model: 'fast', options: { ca: CERTIFICATES.ca } },
    new OpenAI({ apiKey: 'sk-client', baseURL: `https://127.0.0.1:${securePort}/guarded/v1` }),
  )
  const atProvider: string[] = []
  const errors: unknown[] = []
  session.on('error', ({ error, message }) => errors.push(error ?? message))
  await new Promise<void>((resolve) => {
    session.on('session.created', () => {
      provider.on('message', (data) => atProvider.push(String(data)))
      session.send(item('my code is k-123'))
      session.send({ type: 'session.update', session: { type: 'realtime', instructions: 'say k-4' } })
      session.send(item('this is forbidden', { event_id: 'mine' }))
      session.send({ type: 'response.create' })
    })
    session.on('response.done', () => resolve())
  })
  session.close()
  await once(session.socket, 'close')
  expect(atProvider.map((text) => JSON.parse(text))).toEqual([
    item('my code is <masked>'),
    { type: 'session.update', session: { type: 'realtime', instructions: 'say <masked>' } },
    { type: 'response.create' },
  ])
  expect(errors).toEqual([
    {
      type: 'invalid_request_error',
      code: 'guardrail_intervention',
      message: 'Not that.',
      param: null,
      event_id: 'mine',
    },
  ])
  const line = await lineOf('/guarded/v1/realtime?model=fast')
  expect(line).toContain('gen_ai.usage.input_tokens=20')
  expect(line).not.toContain('error=')
  expect(line).toContain('guardrail.phase=request guardrail.kind=regex guardrail.index=1 reason=Guardrail')
  const metrics = await (await fetch(`${gateway.url(15020)}/metrics`)).text()
  expect(metrics.split('\n').filter((sample) => sample.startsWith('gatewright_guardrail_checks_total'))).toEqual(
    expect.arrayContaining([expect.stringMatching(/phase="request".*Reject.* 1$/)]),
  )
})

/** An error event without its ids. */
const errorOf = (text: string) => {
  const { error } = JSON.parse(text)
  return [error.type, error.code, error.message]
}

test('frames of every kind at a guarded backend: fragments, pings, what is not text, the close', async () => {
  const client = await connect('/guarded/realtime?model=frames')
  const received: string[] = []
  client.on('message', (data) => received.push(String(data)))
  const pinged = once(provider, 'ping')
  const first = JSON.stringify(item('a k-1'))
  client.send(first.slice(0, 20), { fin: false })
  client.ping('between')
  // It passes before the message that it interrupts is complete.
  expect(String((await pinged)[0])).toBe('between')
  client.send(first.slice(20), { fin: true })
  client.send(Buffer.alloc(70_000), { binary: true })
  client.send('')
  client.send(`"${'x'.repeat(3_000_000)}"`)
  client.send('{"type":"input_audio_buffer.append","audio":"AAAA"}')
  await eventually('all arrived', () => received.length === 5)
  const isError = (text: string) => text.startsWith('{"type":"error"')
  expect(received.filter((text) => !isError(text))).toEqual([
    JSON.stringify(item('a <masked>')),
    '{"type":"input_audio_buffer.append","audio":"AAAA"}',
  ])
  expect(received.filter(isError).map(errorOf)).toEqual([
    ['invalid_request_error', 'llm-body-invalid', 'events are text messages'],
    ['invalid_request_error', 'llm-body-invalid', 'the event is not a JSON object with unique keys'],
    [
      'invalid_request_error',
      'body-too-large',
      expect.stringMatching(/^request body too large: the limit is \d+ bytes \(frontend.http.maxBufferSize\)$/),
    ],
  ])
  const closed = once(provider, 'close')
  client.close(4002, 'done')
  const [code, reason] = await closed
  expect([code, String(reason)]).toEqual([4002, 'done'])
})

test('a guard server is asked about each event; later ones wait, and a failure is told to the client', async () => {
  const client = await connect('/judged/realtime?model=m', { headers: { authorization: 'Bearer sk-client' } })
  const received: string[] = []
  client.on('message', (data) => received.push(String(data)))
  client.send(JSON.stringify(item('slow')))
  client.send(JSON.stringify(item('after')))
  await eventually('the server is asked', () => answer !== undefined)
  const pinged = once(provider, 'ping')
  client.ping('while it is asked')
  expect(String((await pinged)[0])).toBe('while it is asked')
  expect([judged, received]).toEqual([['slow'], []])
  expect([got.headers.authorization, ...judgedFor]).toEqual(['Bearer sk-gateway', 'Bearer sk-client'])
  answer!()
  await eventually('both arrived', () => received.length === 2)
  client.send(JSON.stringify(item('broken')))
  await eventually('the error arrived', () => received.length === 3)
  expect(received.slice(0, 2)).toEqual([JSON.stringify(item('slow')), JSON.stringify(item('after'))])
  expect(errorOf(received[2]!)).toEqual(['server_error', 'guardrail_intervention', 'prompt guard failed'])

  // The provider closes while the server is asked.
  answer = undefined
  client.send(JSON.stringify(item('slow')))
  await eventually('the server is asked again', () => answer !== undefined)
  provider.close(4321, 'over')
  const [code] = await once(client, 'close')
  expect(code).toBe(4321)
  answer!()
  expect(await lineOf('/judged/realtime?model=m')).toContain('websocket.close_code=4321')
})

test('a client without masks is disconnected by a guarded backend, and an unguarded one relays it', async () => {
  for (const [name, expected] of [
    ['guarded', 1002],
    ['own-keys', 'the provider decides'],
  ] as const) {
    const client = await connect(`/${name}/realtime?model=plain`)
    const closed = new Promise<number | string>((resolve) => {
      client.on('close', (code) => resolve(code))
      provider.on('error', () => resolve('the provider decides'))
    })
    const { _socket: socket } = client as unknown as { readonly _socket: { write(bytes: Buffer): void } }
    socket.write(Buffer.from([0x81, 2, 0x7b, 0x7d]))
    expect(await closed).toBe(expected)
  }
  const line = await lineOf('/guarded/realtime?model=plain')
  expect(line).toContain('the guards cannot read the client: a frame is not masked')
})
