import { once } from 'node:events'
import http from 'node:http'
import net, { type AddressInfo } from 'node:net'
import { join } from 'node:path'
import { text } from 'node:stream/consumers'
import tls from 'node:tls'
import { SendMessageRequest, TaskState } from '@a2a-js/sdk'
import { ClientFactory, DefaultAgentCardResolver } from '@a2a-js/sdk/client'
import { Client, StreamableHTTPClientTransport } from '@modelcontextprotocol/client'
import { afterAll, beforeAll, beforeEach, expect, onTestFinished, test, vi } from 'vitest'
import { startWeather } from '#examples/upstreams/mcp.ts'
import { applySystemAuthorities } from '#net/connect/system-authorities.ts'
import { CERTIFICATES } from '#net/testing/certificates.ts'
import { startTypescript1 } from '#test/interop/a2a/typescript/agent-1.ts'
import { eventually } from '#test/support/eventually.ts'
import { freePort } from '#test/support/free-port.ts'
import { startGateway, type TestGateway } from '#test/support/gateway.ts'
import {
  backendRef,
  backendYaml,
  createObjectsFolder,
  gatewayYaml,
  joinYaml,
  type ObjectsFolder,
  routeYaml,
} from '#test/support/objects-folder.ts'
import { PassingTime } from '#test/support/passing-time.ts'
import { policyYaml } from '#test/support/policy-yaml.ts'
import { type ProxyServer, startProxyServer } from '#test/support/proxy-server.ts'
import { ACCOUNT, ACCOUNT_ENVIRONMENT, accountYaml, callersYaml } from '#test/support/vendor-keys.ts'
import { verifies } from '#test/support/verifies.ts'
import { type ServerKeys, startVerifyingServer, type VerifyingServer } from '#test/support/verifying-server.ts'

/**
 * Agent runtimes, at a server that has the certificate of their region and verifies every signature with the vendor's library. Their hosts are
 * reached through a proxy server, because no other place can be configured.
 */

const BEARER = 'oauth-token'
const KEYS: ServerKeys = {
  ...ACCOUNT,
  service: 'bedrock-agentcore',
  region: 'us-west-2',
  bearer: BEARER,
}
const HOST = 'bedrock-agentcore.us-west-2.amazonaws.com'
const ARN = 'arn:aws:bedrock-agentcore:us-west-2:123456789012:runtime/travel_agent-Ab1'
const TARGET =
  '/runtimes/arn%3Aaws%3Abedrock-agentcore%3Aus-west-2%3A123456789012%3Aruntime%2Ftravel_agent-Ab1/invocations'
const SESSION = 'x-amzn-bedrock-agentcore-runtime-session-id'

const runtimeYaml = (name: string, more = '', { qualifier = '', region = 'us-west-2' } = {}) => `
apiVersion: gatewright.dev/v1alpha1
kind: ProxyBackend
metadata: { name: ${name} }
spec:
  aws: { agentRuntime: { agentRuntimeArn: "${ARN.replace('us-west-2', region)}"${qualifier && `, qualifier: "${qualifier}"`} } }
  ${more}
`
const editedRoute = `
apiVersion: gateway.networking.k8s.io/v1
kind: HTTPRoute
metadata: { name: edited }
spec:
  parentRefs: [{ name: main }]
  rules:
    - matches: [{ path: { type: PathPrefix, value: /edited } }]
      filters:
        - { type: URLRewrite, urlRewrite: { path: { type: ReplaceFullPath, replaceFullPath: /other } } }
        - { type: RequestHeaderModifier, requestHeaderModifier: { set: [{ name: ${SESSION}, value: "session of the gateway" }] } }
      retry: { attempts: 2, codes: [503] }
      backendRefs: [{ group: gatewright.dev, kind: ProxyBackend, name: edited }]
`
const mirroredRoute = routeYaml(
  'mirrored',
  '/mirrored',
  'plain',
  '      filters: [{ type: RequestMirror, requestMirror: { backendRef: { group: gatewright.dev, kind: ProxyBackend, name: production } } }]\n',
)
const edits = `policies:
    http: { requestTimeout: 300ms }
    transformation: { request: { set: [{ name: x-amzn-custom, value: "request.method" }], body: '"<" + string(request.body) + ">"' } }`
const RUNTIMES = ['plain', 'production', 'token', 'caller', 'elsewhere', 'edited', 'failing', 'azure', 'misnamed']
const objectsOf = (port: number, authorizerPort: number) =>
  joinYaml(
    gatewayYaml(port),
    backendYaml('proxy', proxy.port),
    backendYaml('authorizer', authorizerPort),
    accountYaml,
    callersYaml(BEARER),
    runtimeYaml('plain'),
    runtimeYaml(
      'production',
      'policies: { auth: { cloudOne: { secretRef: { name: keys } } }, http: { version: HTTP1 } }',
      {
        qualifier: 'PROD/1 b',
      },
    ),
    runtimeYaml('token', `policies: { auth: { key: ${BEARER} } }`),
    runtimeYaml('caller', 'policies: { auth: { passthrough: {} } }'),
    runtimeYaml('elsewhere', '', { region: 'eu-west-1' }),
    runtimeYaml('edited', edits),
    runtimeYaml('failing'),
    runtimeYaml('azure'),
    runtimeYaml('misnamed'),
    ...RUNTIMES.map((name) =>
      policyYaml(`${name}-proxy`, 'ProxyBackend', name, { backend: { tunnel: { backendRef: backendRef('proxy') } } }),
    ),
    ...RUNTIMES.filter((name) => name !== 'edited').map((name) => routeYaml(name, `/${name}`, name)),
    editedRoute,
    mirroredRoute,
    policyYaml('callers', 'HTTPRoute', 'caller', {
      traffic: { apiKeyAuthentication: { secretRef: { name: 'callers' } } },
    }),
    policyYaml('edited', 'ProxyBackend', 'edited', {
      backend: {
        extAuth: { backendRef: backendRef('authorizer'), http: { allowedResponseHeaders: ['x-amzn-tenant'] } },
      },
    }),
    policyYaml('failing', 'ProxyBackend', 'failing', {
      backend: { health: { eviction: { duration: '60s', consecutiveFailures: 2 } } },
    }),
    policyYaml('azure', 'ProxyBackend', 'azure', { backend: { auth: { cloudTwo: {} } } }),
    policyYaml('misnamed', 'ProxyBackend', 'misnamed', {
      backend: { auth: { cloudOne: { secretRef: { name: 'keys' }, serviceName: 'bedrock' } } },
    }),
  )

const stops = new AsyncDisposableStack()
let objects: ObjectsFolder
let gateway: TestGateway
let port: number
let server: VerifyingServer
let proxy: ProxyServer

const ENVIRONMENT = {
  AWS_REGION: 'eu-central-1',
  AWS_EC2_METADATA_DISABLED: 'true',
}

/** As if the system had the authority of this server. */
function trust(certificate: string): void {
  applySystemAuthorities()
  const before = tls.getCACertificates('default')
  tls.setDefaultCACertificates([...before, certificate])
  stops.defer(() => tls.setDefaultCACertificates(before))
}

/** The library that looks for keys reads the variables of the process. */
function stubVariables(variables: Readonly<Record<string, string>>): void {
  for (const [name, value] of Object.entries(variables)) vi.stubEnv(name, value)
}

beforeAll(async () => {
  stops.defer(() => void vi.unstubAllEnvs())
  stubVariables({ ...ENVIRONMENT, ...ACCOUNT_ENVIRONMENT })
  trust(CERTIFICATES.runtime.cert)
  server = stops.use(await startVerifyingServer(KEYS, { secure: CERTIFICATES.runtime }))
  proxy = stops.use(
    await startProxyServer({ names: { [HOST]: server.port, [HOST.replace('us-west-2', 'eu-west-1')]: server.port } }),
  )
  const authorizer = http.createServer((_, response) => response.writeHead(200, { 'x-amzn-tenant': 't1' }).end())
  await once(authorizer.listen(0, '127.0.0.1'), 'listening')
  stops.defer(() => {
    authorizer.closeAllConnections()
    authorizer.close()
  })
  port = await freePort()
  const { port: authorizerPort } = authorizer.address() as AddressInfo
  objects = await createObjectsFolder({ 'all.yaml': objectsOf(port, authorizerPort) })
  stops.defer(() => objects.remove())
  gateway = stops.use(await startGateway({ files: [objects.path], workers: 1 }))
})
afterAll(() => stops.disposeAsync())
beforeEach(() => {
  server.seen.length = 0
  server.next.length = 0
  server.answer = undefined
})

const send = (path: string, init: RequestInit = {}) => fetch(`${gateway.url(port)}${path}`, init)
const post = (path: string, body = '{"prompt":"hi"}', headers: Record<string, string> = {}) =>
  send(path, { method: 'POST', body, headers: { 'content-type': 'application/json', ...headers } })

verifies(
  'backend.aws.agentRuntime/agentRuntimeArn',
  'a request goes to the runtime of the ARN, over TLS, signed with keys from the environment for the region of the ARN',
  async () => {
    const response = await post('/plain/chat?x=1', '{"prompt":"hi"}', { authorization: 'Bearer of-the-client' })
    expect([response.status, await response.text()]).toEqual([200, '{"prompt":"hi"}'])
    expect(server.seen).toMatchObject([{ fault: undefined, method: 'POST', target: TARGET, version: '2.0' }])
    expect(server.seen[0]!.headers[':authority']).toBe(HOST)
    expect(proxy.seen).toMatchObject([{ method: 'CONNECT', target: `${HOST}:443` }])
    expect(server.seen[0]!.headers).not.toHaveProperty(SESSION)
  },
)

verifies(
  'backend.aws.agentRuntime/qualifier',
  'the qualifier is the query of every request, which the keys of a Secret sign',
  async () => {
    expect((await post('/production?qualifier=DEV')).status).toBe(200)
    expect(server.seen).toMatchObject([
      { fault: undefined, target: `${TARGET}?qualifier=PROD%2F1%20b`, version: '1.1', headers: { host: HOST } },
    ])
  },
)

test('method and fields of sessions pass, and are signed', async () => {
  const fields = {
    [SESSION]: 'session-0123456789-0123456789-012345',
    'x-amzn-bedrock-agentcore-runtime-user-id': 'ann',
    'x-amzn-bedrock-agentcore-runtime-custom-tenant': 't1',
    'mcp-session-id': 's1',
  }
  expect((await send('/plain', { method: 'DELETE', headers: fields })).status).toBe(200)
  expect(server.seen).toMatchObject([{ fault: undefined, method: 'DELETE', headers: fields }])
  expect(server.seen[0]!.headers.authorization).toContain(`;${SESSION};`)
})

test('events of an answer arrive one by one', async () => {
  let more: (() => void) | undefined
  server.answer = (response) => {
    response.writeHead(200, { 'content-type': 'text/event-stream' })
    response.write('data: 1\n\n')
    more = () => response.end('data: 2\n\n')
  }
  const response = await post('/plain', '{}', { accept: 'text/event-stream' })
  const texts = response.body!.pipeThrough(new TextDecoderStream()).getReader()
  expect((await texts.read()).value).toBe('data: 1\n\n')
  more!()
  expect((await texts.read()).value).toBe('data: 2\n\n')
  expect((await texts.read()).done).toBe(true)
  expect(server.seen).toMatchObject([{ fault: undefined, headers: { accept: 'text/event-stream' } }])
})

test('a body above the buffer limit is refused if it must be signed, and streams with a bearer token', async () => {
  const body = 'x'.repeat(3 * 1024 * 1024)
  expect([(await post('/plain', body)).status, server.seen.length]).toEqual([413, 0])
  const response = await post('/token', body)
  expect([response.status, (await response.text()).length]).toEqual([200, body.length])
  expect(server.seen).toMatchObject([{ target: TARGET, headers: { authorization: 'Bearer oauth-token' } }])
  expect(server.seen[0]!.headers).not.toHaveProperty('x-amz-date')
})

test('fields with inner spaces or without a value are signed as the service reads them', async () => {
  const fields = [
    `${SESSION}: s  1`,
    'x-amzn-bedrock-agentcore-runtime-custom-empty:',
    'x-amzn-trace-id:  Root=1;  Parent=2 ',
  ]
  const socket = net.connect(port, '127.0.0.1')
  socket.write(
    `POST /plain HTTP/1.1\r\nHost: gateway.test\r\nContent-Length: 2\r\nConnection: close\r\n${fields.join('\r\n')}\r\n\r\n{}`,
  )
  expect(await text(socket)).toMatch(/^HTTP\/1\.1 200 /)
  expect(server.seen).toMatchObject([{ fault: undefined, target: TARGET, headers: { [SESSION]: 's  1' } }])
})

test('a chunked body above the buffer limit is refused if it must be signed, and one below is sent whole', async () => {
  const chunked = (length: number) => {
    const request = http.request(`${gateway.url(port)}/plain`, { method: 'POST', headers: { expect: '100-continue' } })
    request.on('error', () => {})
    request.on('continue', () => {
      for (let sent = 0; sent < length; sent += 65_536) request.write(Buffer.alloc(65_536, 'x'))
      request.end()
    })
    request.flushHeaders()
    return once(request, 'response') as Promise<[http.IncomingMessage]>
  }
  const [large] = await chunked(3 * 1024 * 1024)
  large.resume()
  expect([large.statusCode, server.seen.length]).toEqual([413, 0])
  const [small] = await chunked(1024 * 1024)
  expect([small.statusCode, (await text(small)).length]).toEqual([200, 1024 * 1024])
  expect(server.seen).toMatchObject([{ fault: undefined }])
})

test('a client that leaves a stream of events ends it at the runtime', async () => {
  let ended = false
  server.answer = (response) => {
    response.writeHead(200, { 'content-type': 'text/event-stream' })
    response.on('close', () => {
      ended = true
    })
    response.write('data: 1\n\n')
  }
  const request = http.request(`${gateway.url(port)}/plain`, { method: 'POST' }).end('{}')
  const [response] = (await once(request, 'response')) as [http.IncomingMessage]
  expect(response.statusCode).toBe(200)
  response.on('error', () => {})
  response.socket.resetAndDestroy()
  await eventually('the runtime notices', () => ended)
})

test('passthrough sends the validated credential of the client instead of a signature', async () => {
  const headers = { authorization: `Bearer ${BEARER}` }
  expect([(await post('/caller', '{}', headers)).status, (await post('/caller')).status]).toEqual([200, 401])
  expect(server.seen).toMatchObject([{ fault: undefined, target: TARGET, headers }])
})

/** Behind the endpoint of the runtime is this server, as in the container of an agent. */
function runs(url: string): void {
  server.answer = async (response, body) => {
    const { method, headers } = server.seen.at(-1)!
    const leave = new AbortController()
    response.on('close', () => leave.abort())
    const passed = Object.entries(headers).filter(([name]) => /^(?:accept|content-type|mcp-.*|a2a-.*)$/.test(name))
    const init = { method, headers: passed, signal: leave.signal, ...(method === 'POST' && { body }) }
    try {
      const { status, headers: fields, body: stream } = await fetch(url, init)
      // Fields of the connection of HTTP/1.1.
      const framing = ['connection', 'keep-alive', 'transfer-encoding']
      response.writeHead(status, Object.fromEntries([...fields].filter(([name]) => !framing.includes(name))))
      response.flushHeaders()
      for await (const piece of stream ?? []) response.write(piece)
      response.end()
    } catch (error) {
      if (!leave.signal.aborted) throw error
    }
  }
}

test('an MCP server in a runtime is used with the official client', async () => {
  await using weather = await startWeather({ port: 0 }).then((it) => ({ ...it, [Symbol.asyncDispose]: it.close }))
  runs(`${weather.url}/mcp`)
  const client = new Client({ name: 'runtime', version: '1.0.0' })
  const transport = new StreamableHTTPClientTransport(new URL(`${gateway.url(port)}/plain`))
  onTestFinished(() => client.close())
  await client.connect(transport)
  const { tools } = await client.listTools()
  expect(tools.map(({ name }) => name)).toContain('alerts')
  const progress: unknown[] = []
  const call = { name: 'forecast', arguments: { city: 'Oslo', days: 2 } }
  const result = await client.callTool(call, { onprogress: (one) => progress.push(one) })
  expect(result.structuredContent).toMatchObject({ city: 'Oslo', days: [{ day: 1 }, { day: 2 }] })
  expect(progress).toHaveLength(2)
  expect(server.seen.filter(({ fault, target }) => fault !== undefined || target !== TARGET)).toEqual([])
})

test('an A2A agent in a runtime is used with the official client, whose card the user provides', async () => {
  await using agents = new AsyncDisposableStack()
  const agent = await startTypescript1(agents)
  runs(`http://127.0.0.1:${agent.port}/rpc`)
  const card = await new DefaultAgentCardResolver().resolve(`http://127.0.0.1:${agent.port}/jsonrpc-1.0/`)
  card.supportedInterfaces[0]!.url = `${gateway.url(port)}/production`
  const client = await new ClientFactory().createFromAgentCard(card)
  const message = { messageId: 'm', role: 'ROLE_USER', parts: [{ text: 'hello' }] }
  const events = await Array.fromAsync(client.sendMessageStream(SendMessageRequest.fromJSON({ message })))
  const last = events.at(-1)?.payload
  expect(last?.$case === 'statusUpdate' && last.value.status?.state).toBe(TaskState.TASK_STATE_COMPLETED)
  const task = await client.sendMessage(SendMessageRequest.fromJSON({ message: { ...message, messageId: 'n' } }))
  expect('artifacts' in task && task.artifacts).toHaveLength(1)
  expect(server.seen.map(({ fault, target }) => [fault, target])).toEqual(
    Array.from({ length: 2 }, () => [undefined, `${TARGET}?qualifier=PROD%2F1%20b`]),
  )
})

test('filters, transformations, external authorization and retries: each attempt has the path of the runtime and a signature of its own', async () => {
  server.next.push(503)
  const response = await post('/edited/x?y=1', 'body', { 'content-type': 'text/plain' })
  expect([response.status, await response.text()]).toEqual([200, '<body>'])
  const headers = { [SESSION]: 'session of the gateway', 'x-amzn-custom': 'POST', 'x-amzn-tenant': 't1' }
  expect(server.seen).toMatchObject([
    { fault: undefined, target: TARGET, headers },
    { fault: undefined, target: TARGET, headers: { ...headers, 'x-retry-attempt': '1' } },
  ])
})

test('the errors of a runtime reach the client, and its silence is a timeout', async () => {
  server.answer = (response) => response.writeHead(429, { 'x-amzn-errortype': 'ThrottlingException' }).end('{}')
  const throttled = await post('/plain')
  expect([throttled.status, throttled.headers.get('x-amzn-errortype')]).toEqual([429, 'ThrottlingException'])
  server.answer = () => {}
  using time = new PassingTime()
  expect((await time.hurry(post('/edited', 'x'))).status).toBe(504)
})

test('a runtime that fails is evicted', async () => {
  server.next.push(500, 500)
  for (let i = 0; i < 2; i++) expect((await post('/failing')).status).toBe(500)
  await eventually('the eviction', () => /an endpoint is evicted.*default\/failing/.test(gateway.output.stderr))
})

test('a copy for a runtime has its path and a signature, too', async () => {
  expect((await send('/mirrored?x=1')).status).toBe(200)
  await eventually('both requests have arrived', () => server.seen.length === 2)
  expect(server.seen.map(({ fault }) => fault)).toEqual([undefined, undefined])
  expect(server.seen.map(({ target }) => target).sort()).toEqual([TARGET, `${TARGET}?qualifier=PROD%2F1%20b`])
})

test('nothing is sent to a server that has no certificate for the region', async () => {
  expect([(await post('/elsewhere')).status, server.seen]).toEqual([503, []])
  const elsewhere = 'endpoint=bedrock-agentcore.eu-west-1.amazonaws.com:443'
  await eventually('it is logged', () => gateway.output.stdout.includes(elsewhere))
  expect(gateway.output.stdout.split('\n').find((line) => line.includes(elsewhere))).toContain(
    'upstream.failure=certificate-name',
  )
})

test('tokens of other clouds are refused, and signatures for another service are reported', async () => {
  const response = await post('/azure')
  expect([response.status, server.seen]).toEqual([500, []])
  expect((await post('/misnamed')).status).toBe(403)
  const { stderr } = gateway.output
  expect(stderr).toContain('no backend of rule 0 of HTTPRoute/default/edited receives the path of a request')
  expect(stderr).toContain('cloudTwo (Azure) cannot be used with an agent runtime')
  expect(stderr).toContain('the backend accepts only signatures for bedrock-agentcore; remove serviceName')
})

test('without keys in the environment requests are refused, and the status of the backend says why', async () => {
  const at = await freePort()
  const home = objects.path
  using time = new PassingTime()
  stubVariables({
    ...ENVIRONMENT,
    AWS_ACCESS_KEY_ID: '',
    AWS_SECRET_ACCESS_KEY: '',
    AWS_CONFIG_FILE: join(home, 'none'),
    AWS_SHARED_CREDENTIALS_FILE: join(home, 'none'),
  })
  onTestFinished(() => void vi.unstubAllEnvs())
  await using bare = await startGateway({ files: [(await ownFolder(at)).path], workers: 1 })
  const request = http.request(`${bare.url(at)}/plain`, { method: 'POST' }).end('{}')
  const answered = once(request, 'response') as Promise<[http.IncomingMessage]>
  await eventually('the keys are looked for', async () =>
    (await (await fetch(`${bare.url(15_000)}/status`)).text()).includes('credential-unavailable'),
  )
  // Requests wait for the first credential until then.
  time.skip(5000)
  const [response] = await answered
  expect([response.statusCode, server.seen]).toEqual([500, []])
  response.resume()
  await eventually('it is reported', async () => {
    const status = await (await fetch(`${bare.url(15_000)}/status`)).text()
    return status.includes('credential-unavailable') && status.includes('cannot be obtained, and requests are refused')
  })
})

async function ownFolder(at: number): Promise<ObjectsFolder> {
  const folder = await createObjectsFolder({
    'all.yaml': joinYaml(gatewayYaml(at), runtimeYaml('plain'), routeYaml('plain', '/plain', 'plain')),
  })
  stops.defer(() => folder.remove())
  return folder
}
