import { expect, test, vi } from 'vitest'
import { clock } from '#base/clock.ts'
import { parseExactJson } from '#base/exact-json.ts'
import { Head } from '#net/http/head.ts'
import { compileExpression } from '../compile-expression.ts'
import { Exchange } from '../exchange.ts'
import type { ExpressionEnvironment } from '../expression.ts'
import { largeBody, recordedBody, wholeBody } from '../known-body.ts'
import type { NumberParameter } from '../llm-facts.ts'
import { type McpFacts, NO_MCP } from '../mcp-facts.ts'
import { NO_STEPS } from '../run-context.ts'
import { variablesAt } from './environments.ts'

const NOW = Date.UTC(2026, 0, 2, 3, 4, 5)
const PEM = '-----BEGIN CERTIFICATE-----'
const CART = { name: 'cart-1', namespace: 'shop', serviceAccount: 'cart' }
const NAMES = ['spiffe://mesh.example/ns/shop/sa/cart', 'cart.example']

function headOf(head: Head, fields: Readonly<Record<string, string>>): Head {
  for (const [name, value] of Object.entries(fields)) head.set(name, value)
  return head
}

/** A completed request in which every fact is set. */
function everything(): Exchange {
  const request = headOf(Head.request('POST', '/a/b?x=1&x=2'), { host: 'example.com:8080', 'X-A': '1' })
  const exchange = new Exchange(request, {
    remoteAddress: '10.1.2.3',
    remotePort: 4711,
    rawAddress: '10.0.0.9',
    rawPort: 5000,
    localAddress: '::1',
    localPort: 8443,
    secure: true,
    serverName: 'sni.example',
    certificate: {
      pem: PEM,
      subject: 'CN=cart,O=Shop',
      subjectCn: 'cart',
      issuer: 'CN=ca',
      subjectAltNames: NAMES,
      uris: NAMES.filter((name) => name.includes('://')),
    },
  })
  exchange.scheme = 'https'
  exchange.version = '2'
  exchange.startMonotonicMs = 1000
  exchange.sentMonotonicMs = 1001.5
  exchange.answeredMonotonicMs = 1010
  exchange.requestBody = wholeBody(new TextEncoder().encode('{"model":"m"}'))
  exchange.responseBody = wholeBody(new TextEncoder().encode('answer'))
  exchange.response = headOf(Head.response(207), { 'grpc-status': '5', 'x-b': '2' })
  exchange.gateway = { podName: 'pod-1', namespace: 'infra', gateway: 'main' }
  exchange.workloads = { at: (address) => (address === '10.1.2.3' ? CART : undefined) }
  exchange.names = {
    gateway: 'default/main',
    listener: 'https',
    route: 'apps/shop',
    routeKind: 'HTTPRoute',
    rule: 'first',
    backend: 'apps/carts',
    backendType: 'static',
    protocol: 'http',
  }
  exchange.identity.jwt = { claims: { sub: 'ann', roles: ['a'] }, token: 'h.p.s' }
  exchange.identity.apiKey = { key: 'k-1', entry: 'alice', metadata: { group: 'sales' } }
  exchange.identity.basicAuth = { username: 'bob', credential: 'x' }
  exchange.metadata = { m: 1 }
  exchange.extauthz = { e: true }
  exchange.extproc = { p: [1] }
  exchange.llm = {
    routeType: 'Completions',
    misread: undefined,
    operation: 'chat',
    provider: 'openai',
    serverAddress: 'llm.example',
    responseId: 'chatcmpl-1',
    finishReasons: ['stop'],
    requestModel: 'fast',
    knownModel: 'fast',
    responseModel: 'fast-1',
    streaming: true,
    translation: undefined,
    isGuarded: false,
    removedFields: [],
    areTokensEstimated: false,
    countVocabulary: undefined,
    errorType: undefined,
    closeCode: undefined,
    serviceTier: 'flex',
    inputTokens: 7,
    outputTokens: 4,
    totalTokens: 11,
    providerInputTokens: 5,
    providerTotalTokens: 9,
    cachedInputTokens: 2,
    cacheCreationInputTokens: 3,
    cacheCreation1hInputTokens: 13,
    reasoningTokens: 1,
    countTokens: 12,
    inputImageTokens: 21,
    inputTextTokens: 22,
    inputAudioTokens: 23,
    outputImageTokens: 24,
    outputTextTokens: 25,
    outputAudioTokens: 26,
    timeToFirstTokenMs: 6,
    request: {
      number: (parameter) => PARAMETERS[parameter],
      text: (parameter) => parameter,
      outputType: 'json',
      prompt: [{ role: 'user', content: 'hi' }],
    },
    answer: { completion: ['yes'], toolCalls: [{ id: 'c1', name: 'add', arguments: { a: 1 } }] },
  }
  exchange.context = {
    ...NO_STEPS,
    prices: {
      costOf: () => ({ input: 1000, output: 2000, cacheRead: 3000, cacheWrite: 4000, total: 10_000 }),
      ratesOf: () => ({
        input: 1.5,
        output: 2.5,
        cacheRead: 3.5,
        cacheWrite: 4.5,
        cacheWrite1h: 5.5,
        inputAudio: 6.5,
        inputImage: 7.5,
        outputAudio: 8.5,
        outputImage: 9.5,
        outputReasoning: 10.5,
      }),
    },
  }
  exchange.mcp = mcpItem('tool')
  exchange.a2a = { method: 'SendMessage' }
  return exchange
}

function mcpItem(resourceType: McpFacts['resourceType']): McpFacts {
  const toolCall = { maxLength: 9, result: { content: [] }, error: { code: -1 } }
  const toolArguments = resourceType === 'tool' ? { city: 'Oslo' } : undefined
  return {
    ...NO_MCP,
    method: 'tools/call',
    sessionId: 's',
    target: 't',
    resourceType,
    name: 'n',
    toolArguments,
    toolCall,
  }
}

const PARAMETERS: Readonly<Record<NumberParameter, number>> = {
  temperature: 1,
  top_p: 0.5,
  frequency_penalty: -0.5,
  presence_penalty: 0.25,
  seed: 42,
  max_tokens: 100,
  dimensions: 256,
}

function read(path: string, exchange: Exchange, environment: ExpressionEnvironment): unknown {
  const problems: string[] = []
  const expression = compileExpression(path, environment, ({ code, message }) => {
    if (code !== 'not-implemented') problems.push(message)
  })
  expect(problems).toEqual([])
  return expression.json(exchange)
}

/** Stops the clocks at 30 milliseconds after the start of the request. */
function stopClocks(): void {
  vi.spyOn(clock, 'now').mockReturnValue(NOW)
  vi.spyOn(clock, 'monotonic').mockReturnValue(1030)
}

const READINGS: Readonly<Record<string, unknown>> = {
  'source.address': '10.1.2.3',
  'source.port': 4711,
  'source.rawAddress': '10.0.0.9',
  'source.rawPort': 5000,
  'source.identity.trustDomain': 'mesh.example',
  'source.identity.namespace': 'shop',
  'source.identity.serviceAccount': 'cart',
  'source.spiffeId': NAMES[0],
  'source.subjectAltNames': NAMES,
  'source.issuer': 'CN=ca',
  'source.subject': 'CN=cart,O=Shop',
  'source.subjectCn': 'cart',
  'source.certificate': PEM,
  'source.unverifiedWorkload.name': 'cart-1',
  'source.unverifiedWorkload.namespace': 'shop',
  'source.unverifiedWorkload.serviceAccount': 'cart',
  'source.connectHeaders': undefined,
  'env.podName': 'pod-1',
  'env.namespace': 'infra',
  'env.gateway': 'main',
  'request.method': 'POST',
  'request.uri': 'https://example.com:8080/a/b?x=1&x=2',
  'request.host': 'example.com:8080',
  'request.scheme': 'https',
  'request.path': '/a/b',
  'request.pathAndQuery': '/a/b?x=1&x=2',
  'request.version': 'HTTP/2',
  'request.headers': { host: 'example.com:8080', 'x-a': '1' },
  'request.startTime': '2026-01-02T03:04:04.97Z',
  'request.body': 'eyJtb2RlbCI6Im0ifQ==',
  'request.bodyPrefix': 'eyJtb2RlbCI6Im0ifQ==',
  'destination.address': '::1',
  'destination.port': 8443,
  'destination.hostname': 'sni.example',
  'proxy.bind': '[::1]:8443',
  'proxy.gateway.namespace': 'default',
  'proxy.gateway.name': 'main',
  'proxy.listener.name': 'https',
  'proxy.route.namespace': 'apps',
  'proxy.route.name': 'shop',
  'proxy.route.kind': 'HTTPRoute',
  'proxy.route.rule': 'first',
  'backend.name': 'apps/carts',
  'backend.type': 'static',
  'backend.protocol': 'http',
  jwt: { sub: 'ann', roles: ['a'] },
  'jwt.rawToken': '<redacted>',
  apiKey: { group: 'sales' },
  'apiKey.key': '<redacted>',
  'basicAuth.username': 'bob',
  metadata: { m: 1 },
  extauthz: { e: true },
  extproc: { p: [1] },
  'response.code': 207,
  'response.grpcStatus': 5,
  'response.headers': { 'grpc-status': '5', 'x-b': '2' },
  'response.body': 'YW5zd2Vy',
  'response.bodyPrefix': 'YW5zd2Vy',
  'proxy.requestProcessingDuration': '0.0015s',
  'proxy.upstreamDuration': '0.0085s',
  'request.endTime': '2026-01-02T03:04:05Z',
  'proxy.responseProcessingDuration': '0.02s',
  'llm.streaming': true,
  'llm.requestModel': 'fast',
  'llm.responseModel': 'fast-1',
  'llm.provider': 'openai',
  'llm.inputTokens': 7,
  'llm.outputTokens': 4,
  'llm.totalTokens': 11,
  'llm.providerInputTokens': 5,
  'llm.providerTotalTokens': 9,
  'llm.cachedInputTokens': 2,
  'llm.cacheCreationInputTokens': 3,
  'llm.cacheCreation1hInputTokens': 13,
  'llm.cost.input': 0.000001,
  'llm.cost.output': 0.000002,
  'llm.cost.cacheRead': 0.000003,
  'llm.cost.cacheWrite': 0.000004,
  'llm.cost.total': 0.00001,
  'llm.costRates.input': 1.5,
  'llm.costRates.output': 2.5,
  'llm.costRates.cacheRead': 3.5,
  'llm.costRates.cacheWrite': 4.5,
  'llm.costRates.cacheWrite1h': 5.5,
  'llm.costRates.inputAudio': 6.5,
  'llm.costRates.inputImage': 7.5,
  'llm.costRates.outputAudio': 8.5,
  'llm.costRates.outputImage': 9.5,
  'llm.costRates.outputReasoning': 10.5,
  'llm.reasoningTokens': 1,
  'llm.countTokens': 12,
  'llm.inputImageTokens': 21,
  'llm.inputTextTokens': 22,
  'llm.inputAudioTokens': 23,
  'llm.outputImageTokens': 24,
  'llm.outputTextTokens': 25,
  'llm.outputAudioTokens': 26,
  'llm.serviceTier': 'flex',
  'llm.prompt': [{ role: 'user', content: 'hi' }],
  'llm.params.temperature': 1,
  'llm.params.top_p': 0.5,
  'llm.params.frequency_penalty': -0.5,
  'llm.params.presence_penalty': 0.25,
  'llm.params.seed': 42,
  'llm.params.max_tokens': 100,
  'llm.params.dimensions': 256,
  'llm.params.encoding_format': 'encoding_format',
  'llm.completion': ['yes'],
  'llm.toolCalls': [{ id: 'c1', name: 'add', arguments: { a: 1 } }],
  'llm.timeToFirstToken': '0.006s',
  'llm.timePerOutputToken': '0.006s',
  'a2a.method': 'SendMessage',
  'mcp.methodName': 'tools/call',
  'mcp.sessionId': 's',
  'mcp.tool.name': 'n',
  'mcp.tool.target': 't',
  'mcp.tool.arguments': { city: 'Oslo' },
  'mcp.tool.result': { content: [] },
  'mcp.tool.error': { code: -1 },
}

for (const [path, value] of Object.entries(READINGS)) {
  test(`${path} is ${JSON.stringify(value)}`, () => {
    stopClocks()
    expect(read(path, everything(), 'log')).toEqual(value)
  })
}

test('the other items of an MCP message are absent', () => {
  const exchange = everything()
  for (const type of ['tool', 'prompt', 'resource', 'task'] as const) {
    exchange.mcp = mcpItem(type)
    for (const other of ['tool', 'prompt', 'resource', 'task']) {
      expect(read(`mcp.${other}.name`, exchange, 'mcp')).toBe(type === other ? 'n' : undefined)
      expect(read(`mcp.${other}.target`, exchange, 'mcp')).toBe(type === other ? 't' : undefined)
      expect(read(`has(mcp.${other})`, exchange, 'mcp')).toBe(type === other)
    }
  }
})

test('llmRequest keeps the text of its numbers', () => {
  const exchange = everything()
  exchange.requestBody = wholeBody(new TextEncoder().encode('{"user":9007199254740993,"seed":1.0}'))
  expect(JSON.stringify(read('llmRequest', exchange, 'llm'))).toBe('{"user":9007199254740993,"seed":1.0}')
  expect(read('llmRequest.user == 9007199254740993 && llmRequest.user != 9007199254740992', exchange, 'llm')).toBe(true)
})

test('llmRequest is the JSON as earlier transformations changed it', () => {
  const exchange = everything()
  expect(read('llmRequest.model', exchange, 'llm')).toBe('m')
  exchange.newRequestBody = new TextEncoder().encode('{"model":"n"}')
  expect(read('llmRequest.model', exchange, 'llm')).toBe('n')
  exchange.newRequestBody = new TextEncoder().encode('{')
  expect(read('llmRequest', exchange, 'llm')).toBeUndefined()
})

test('a fraction is not an integer, and an empty list is absent', () => {
  const exchange = everything()
  exchange.llm = {
    ...exchange.llm!,
    request: { number: () => 1.5, text: () => undefined, outputType: undefined, prompt: [] },
    answer: { completion: [], toolCalls: [] },
  }
  expect(read('llm.params.temperature', exchange, 'log')).toBe(1.5)
  for (const absent of [
    'params.seed',
    'params.max_tokens',
    'params.encoding_format',
    'prompt',
    'completion',
    'toolCalls',
  ])
    expect(read(`llm.${absent}`, exchange, 'log')).toBeUndefined()
})

test.each([
  ['12345678901234567890', '12345678901234567890', '12345678901234567000'],
  ['-1234567890123456789', '-1234567890123456789', '-1234567890123456789'],
  ['0.12345678901234567890', 0.12345678901234568, '0.12345678901234568'],
])('a number of a tool call that a double cannot represent, %s, keeps its value', (written, shown, text) => {
  const exchange = everything()
  exchange.mcp!.toolArguments = parseExactJson(`{"id":${written}}`)
  const lines: unknown[] = []
  const expression = compileExpression('mcp.tool.arguments.id', 'log', () => {})
  expression.writeAttributes(exchange, 'id', (name, value) => lines.push(name, value))
  expect(lines).toEqual(['id', shown])
  expect(read('string(mcp.tool.arguments.id)', exchange, 'log')).toBe(text)
})

test('every available variable has a test', () => {
  const readable = (environment: ExpressionEnvironment) =>
    variablesAt(environment).filter((variable) => !('unavailable' in variable))
  const other = ['prompt', 'resource', 'task'].flatMap((type) => [`mcp.${type}.name`, `mcp.${type}.target`])
  const tested = [...Object.keys(READINGS), ...other]
  expect(new Set(readable('log').map(({ path }) => path))).toEqual(new Set(tested))
})

test('a connection whose request has no facts', () => {
  const exchange = new Exchange(Head.request('GET', '/'), {
    ...everything().peer,
    localAddress: '127.0.0.1',
    serverName: undefined,
    certificate: undefined,
  })
  const readable = variablesAt('log').flatMap((variable) => ('unavailable' in variable ? [] : variable.path))
  expect(readable.filter((path) => read(path, exchange, 'log') !== undefined)).toEqual([
    ...['source.address', 'source.port', 'source.rawAddress', 'source.rawPort'],
    ...['request.method', 'request.uri', 'request.host', 'request.scheme', 'request.path', 'request.pathAndQuery'],
    ...['request.version', 'request.headers', 'request.startTime'],
    ...['destination.address', 'destination.port', 'proxy.bind', 'request.endTime', 'a2a.method'],
  ])
  expect(read('request.host', exchange, 'log')).toBeNull()
  expect(read('proxy.bind', exchange, 'log')).toBe('127.0.0.1:8443')
  expect(read('request.uri', exchange, 'log')).toBe('http:///')
})

test('the host is in its matched form, however the client spells it', () => {
  const exchange = everything()
  exchange.request.authority = 'Example.COM.:443'
  expect(read('request.host', exchange, 'log')).toBe('example.com')
  expect(read('request.uri', exchange, 'log')).toBe('https://example.com/a/b?x=1&x=2')
  expect(exchange.request.authority).toBe('Example.COM.:443')
})

test('a body above the limit: null, with its prefix', () => {
  const exchange = everything()
  exchange.requestBody = largeBody(new TextEncoder().encode('begin'))
  exchange.responseBody = largeBody(new TextEncoder().encode('start'))
  expect(read('request.body == null', exchange, 'request')).toBe(true)
  expect(read('string(request.bodyPrefix)', exchange, 'request')).toBe('begin')
  expect(read('response.body', exchange, 'response')).toBeNull()
  expect(read('string(response.bodyPrefix)', exchange, 'response')).toBe('start')
})

test('variables() has all present values, with redacted secrets', () => {
  const shown = read('variables()', everything(), 'log') as Record<string, Record<string, unknown>>
  expect(Object.keys(shown)).toEqual(
    expect.arrayContaining(['request', 'response', 'source', 'proxy', 'jwt', 'llm', 'mcp']),
  )
  expect(shown.request).toMatchObject({ method: 'POST', headers: { 'x-a': '1' } })
  expect(JSON.stringify(shown)).not.toContain('k-1')
})

test.each([
  ['request.headers["a"] + request.headers["Set-Cookie"]', 'string'],
  ['request.headers.join()["a"] + "x"', 'string'],
  ['response.headers["a"] + response.headers.b', 'string'],
  ['response.headers["Set-Cookie"][0] + "x"', 'string'],
  ['response.headers.exists(name, value, name == value)', 'bool'],
  ['request.headers.raw()["a"][0] + "x"', 'string'],
  ['request.headers.split()["a"].exists(part, part.startsWith("x"))', 'bool'],
  ['request.headers.redacted().join()["a"].startsWith("x")', 'bool'],
  ['llm.inputTokens + llm.outputTokens * 2u', 'uint'],
])('%s has the type %s', (source) => {
  const problems: string[] = []
  compileExpression(source, 'log', ({ message }) => problems.push(message))
  expect(problems).toEqual([])
})

test.each([
  [
    'default(response.body, b"")',
    'token-cost',
    'response.body is always absent here: bodies are not recorded for the cost of global rate limits',
  ],
] as const)('%s in a %s expression is reported as absent', (source, environment, message) => {
  const problems: { code: string; message: string }[] = []
  compileExpression(source, environment, (problem) => problems.push(problem))
  expect(problems).toMatchObject([{ code: 'not-implemented', severity: 'error' }])
  expect(problems[0]!.message).toContain(message)
})

test.each(['variables()', 'source', 'request'])('%s as a whole has all present values, without a finding', (source) => {
  const problems: unknown[] = []
  compileExpression(source, 'log', (problem) => problems.push(problem))
  expect(problems).toEqual([])
})

test('an unredacted key is decoded text, also beyond ASCII', () => {
  const exchange = everything()
  exchange.identity.apiKey = { key: 'cl\u00c3\u00a9', entry: 'alice', metadata: {} }
  expect(compileExpression('apiKey.key.unredacted()', 'log', () => {}).text(exchange)).toBe('cl\u00e9')
})

test('a body that streamed: after the end what was recorded of it, or null', () => {
  const exchange = everything()
  exchange.requestBody = recordedBody(new TextEncoder().encode('begin'))
  exchange.responseBody = recordedBody(undefined)
  expect(read('string(request.body)', exchange, 'log')).toBe('begin')
  expect(read('string(request.bodyPrefix)', exchange, 'log')).toBe('begin')
  expect(read('response.body', exchange, 'log')).toBeNull()
})
