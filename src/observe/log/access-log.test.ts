import { afterEach, beforeEach, expect, test } from 'vitest'
import { clock } from '#base/clock.ts'
import { KnownSecrets } from '#base/known-secrets.ts'
import { SecretSet } from '#base/secret-set.ts'
import type { LlmRequest } from '#exchange/llm-facts.ts'
import { verifies } from '#test/support/verifies.ts'
import { Ended } from '../ended.ts'
import { type ObservedInputs, observed, PEER, PLACE, settingsOf } from '../testing.ts'
import { AccessLog } from './access-log.ts'
import { JSON_LINE, TEXT_LINE } from './field-line.ts'

const { now } = clock

beforeEach(() => {
  clock.now = () => Date.UTC(2026, 1, 3, 4, 5, 6, 78)
})
afterEach(() => {
  clock.now = now
})

const START = '2026-02-03T04:05:06.078Z\tinfo\trequest'

function textOf(inputs: ObservedInputs, durationMs = 12.4, error?: string): string | undefined {
  const lines: string[] = []
  new AccessLog(TEXT_LINE, (line) => lines.push(line)).log(new Ended(observed(inputs), clock.now(), durationMs, error))
  return lines[0]
}

function jsonTextOf(inputs: ObservedInputs, durationMs = 12.4, error?: string): string {
  const lines: string[] = []
  new AccessLog(JSON_LINE, (line) => lines.push(line)).log(new Ended(observed(inputs), clock.now(), durationMs, error))
  expect(lines[0]).toMatch(/^\{.*\}\n$/)
  return lines[0]!
}

function jsonOf(inputs: ObservedInputs, durationMs?: number, error?: string): Record<string, unknown> {
  return JSON.parse(jsonTextOf(inputs, durationMs, error)) as Record<string, unknown>
}

verifies('service/access-logs', 'a line of text', () => {
  expect(textOf({ endpointLabel: '127.0.0.1:9000' })).toBe(
    `${START} gateway=default/main listener=http route_rule=first route=default/r endpoint=127.0.0.1:9000` +
      ' src.addr=192.0.2.7:40000 http.method=GET http.host=example.com http.path=/path http.version=HTTP/1.1' +
      ' http.status=200 protocol=http duration=12.4ms\n',
  )
})

test('a line of JSON', () => {
  expect(jsonOf({ line: 'POST /a?b=c', endpointLabel: '127.0.0.1:9000', status: 503 })).toEqual({
    level: 'info',
    time: '2026-02-03T04:05:06.078Z',
    scope: 'request',
    gateway: 'default/main',
    listener: 'http',
    route_rule: 'first',
    route: 'default/r',
    endpoint: '127.0.0.1:9000',
    'src.addr': '192.0.2.7:40000',
    'http.method': 'POST',
    'http.host': 'example.com',
    'http.path': '/a?b=c',
    'http.version': 'HTTP/1.1',
    'http.status': 503,
    protocol: 'http',
    duration: 12.4,
  })
})

test('each line has its own values, also those that most lines repeat', () => {
  const lines: string[] = []
  const log = new AccessLog(TEXT_LINE, (line) => lines.push(line))
  const one = { line: 'GET /a', endpointLabel: '127.0.0.1:9000', status: 200 } as const
  const other = { line: 'POST /b', endpointLabel: '127.0.0.1:9001', status: 503 } as const
  for (const inputs of [one, one, other, { ...one, status: 0 }, one]) {
    log.log(new Ended(observed(inputs), clock.now(), 1, undefined))
  }
  const shown = lines.map((line) =>
    / endpoint=\S+:(\d+) .* http.method=(\S+) .* http.path=(\S+) \S+(?: http.status=(\d+))?/.exec(line)!.slice(1),
  )
  const usual = ['9000', 'GET', '/a', '200']
  expect(shown).toEqual([usual, usual, ['9001', 'POST', '/b', '503'], ['9000', 'GET', '/a', undefined], usual])
})

test('a value that lines repeat is hidden as soon as it is a secret', () => {
  const lines: string[] = []
  const secrets = new SecretSet()
  const log = new AccessLog(TEXT_LINE, (line) => lines.push(line), secrets)
  const ended = observed({
    endpointLabel: 'tenant-4711.example:443',
    place: { ...PLACE, route: 'default/tenant-4711' },
  })
  const write = () => log.log(new Ended(ended, clock.now(), 1, undefined))
  write()
  secrets.set('a', ['tenant-4711'])
  write()
  expect(lines.map((line) => / route=(\S+) endpoint=(\S+)/.exec(line)!.slice(1))).toEqual([
    ['default/tenant-4711', 'tenant-4711.example:443'],
    ['default/<redacted>', '<redacted>.example:443'],
  ])
})

test('unknown values are omitted', () => {
  expect(textOf({ place: null, status: 0 })).toBe(
    `${START} src.addr=192.0.2.7:40000 http.method=GET http.host=example.com http.path=/path http.version=HTTP/1.1` +
      ' duration=12.4ms\n',
  )
  expect(textOf({ place: { ...PLACE, route: '', rule: '' } })).toContain(' listener=http src.addr=')
})

test('a refusal: error, reason, code, and the way to its record', () => {
  const noted = { reason: 'RateLimit', refusal: 'rate-limited', refusalDetail: 'bucket x' } as const
  const line = textOf({ noted, status: 429 }, 0.4)
  expect(line).toContain(' http.status=429 protocol=http error="rate limit exceeded: bucket x" reason=RateLimit')
  expect(line).toMatch(/ reason=RateLimit code=rate-limited decision=w1-7 duration=0.4ms\n$/)
})

test('an answer of the gateway has a reason and no code', () => {
  const line = textOf({ noted: { reason: 'DirectResponse' } })
  expect(line).toContain(' reason=DirectResponse duration=')
  expect(line).not.toContain('code=')
})

test.each([
  ['example.com:8080', 'example.com'],
  ['[::1]:8080', '[::1]'],
  ['[::1]', '[::1]'],
  ['127.0.0.1', '127.0.0.1'],
])('host %s is written as %s', (host, written) => {
  expect(jsonOf({ host })['http.host']).toBe(written)
})

test('retries: the number of the last one, when there was one', () => {
  expect(jsonOf({ noted: { retries: 0 } })).not.toHaveProperty('retry.attempt')
  expect(jsonOf({ noted: { retries: 2 } })['retry.attempt']).toBe(2)
})

test('a token`s subject, when it is text', () => {
  expect(jsonOf({ jwt: { sub: 'alice' } })['jwt.sub']).toBe('alice')
  expect(jsonOf({ jwt: { iss: 'https://idp', sub: 'alice' } })).toMatchObject({
    'jwt.iss': 'https://idp',
    'jwt.sub': 'alice',
  })
  expect(jsonOf({ jwt: { sub: 7 } })).not.toHaveProperty('jwt.sub')
})

test('LLM requests: models and tokens, 0 tokens too', () => {
  const line = jsonOf({
    place: { ...PLACE, protocol: 'llm' },
    llm: {
      operation: 'chat',
      provider: 'one',
      requestModel: 'm-1',
      responseModel: 'm-1-0203',
      inputTokens: 11,
      outputTokens: 0,
    },
  })
  expect(line).toMatchObject({
    protocol: 'llm',
    'gen_ai.operation.name': 'chat',
    'gen_ai.provider.name': 'one',
    'gen_ai.request.model': 'm-1',
    'gen_ai.response.model': 'm-1-0203',
    'gen_ai.usage.input_tokens': 11,
    'gen_ai.usage.output_tokens': 0,
  })
  expect(jsonOf({ llm: {} })).not.toHaveProperty('gen_ai.usage.input_tokens')
})

const NUMBERS: Readonly<Record<string, number>> = {
  temperature: 0.5,
  top_p: 1,
  seed: 0,
  max_tokens: 9,
  frequency_penalty: 0.25,
  presence_penalty: -1,
  dimensions: 3,
}

const READ_REQUEST: LlmRequest = {
  number: (parameter) => NUMBERS[parameter as string],
  text: () => 'base64',
  outputType: 'json',
  prompt: [{ role: 'user', content: 'secret' }],
}

test('LLM requests: parameters, kinds of tokens and times where they are known; never the content', () => {
  const line = jsonOf(
    {
      llm: {
        request: READ_REQUEST,
        answer: { completion: ['secret'], toolCalls: [] },
        serverAddress: 'api.openai.com',
        responseId: 'chatcmpl-1',
        finishReasons: ['stop', 'length'],
        outputTokens: 4,
        cachedInputTokens: 1,
        cacheCreationInputTokens: 2,
        reasoningTokens: 3,
        outputImageTokens: 4,
        inputAudioTokens: 5,
        outputAudioTokens: 6,
        timeToFirstTokenMs: 8,
      },
    },
    12,
  )
  const fields = Object.entries(line).filter(([name]) =>
    /^(?:gen_ai\.(?:request|response|output|usage|embeddings)|server|gatewright)/.test(name),
  )
  expect(Object.fromEntries(fields)).toEqual({
    'gen_ai.response.id': 'chatcmpl-1',
    'gen_ai.response.finish_reasons': 'stop,length',
    'server.address': 'api.openai.com',
    'gen_ai.output.type': 'json',
    'gen_ai.usage.output_tokens': 4,
    'gen_ai.usage.cache_read.input_tokens': 1,
    'gen_ai.usage.cache_creation.input_tokens': 2,
    'gen_ai.usage.reasoning_tokens': 3,
    'gen_ai.usage.output_image_tokens': 4,
    'gen_ai.usage.input_audio_tokens': 5,
    'gen_ai.usage.output_audio_tokens': 6,
    'gen_ai.request.temperature': 0.5,
    'gen_ai.request.top_p': 1,
    'gen_ai.request.max_tokens': 9,
    'gen_ai.request.frequency_penalty': 0.25,
    'gen_ai.request.presence_penalty': -1,
    'gen_ai.request.seed': 0,
    'gen_ai.request.encoding_formats': 'base64',
    'gen_ai.embeddings.dimension.count': 3,
    'gatewright.ai.time_to_first_token': 0.008,
    'gatewright.ai.time_per_output_token': 0.001,
  })
  expect(JSON.stringify(line)).not.toContain('secret')
})

verifies('logTracingAttributes/add', 'an added field takes the place of a default one of that name', () => {
  const settings = settingsOf({ add: { 'http.path': '"/" + request.method', route: '1', duration: '2.5' } })
  const text = jsonTextOf({ settings })
  expect(text.match(/"http\.path":[^,]*/g)).toEqual(['"http.path":"/GET"'])
  expect(text).toMatch(/"http\.path":"\/GET","route":1,"duration":2\.5\}\n$/)
  expect(text.match(/"route":/g)).toHaveLength(1)
})

test('so do members of a flattened value, where they are there', () => {
  const settings = settingsOf({ add: { jwt: 'flatten(jwt)' }, remove: ['duration'] })
  const text = jsonTextOf({ settings, jwt: { sub: 'ann', role: 'a' } })
  expect(text).toMatch(/"protocol":"http","jwt\.sub":"ann","jwt\.role":"a"\}\n$/)
  expect(text.match(/"jwt\.sub":/g)).toHaveLength(1)
  const other = settingsOf({ add: { jwt: 'flatten({"role": "b"})' } })
  expect(jsonOf({ settings: other, jwt: { sub: 'ann' } })).toMatchObject({ 'jwt.sub': 'ann', 'jwt.role': 'b' })
})

test('names that a client chooses in a body are cut', () => {
  const mcp = { method: 'm'.repeat(2000), resourceType: 'tool', name: 'n'.repeat(1025) } as const
  const line = jsonOf({ mcp }) as Record<string, string>
  expect([line['mcp.method.name'], line['gen_ai.tool.name']]).toEqual([
    `${'m'.repeat(1023)}\u2026`,
    `${'n'.repeat(1023)}\u2026`,
  ])
  expect(jsonOf({ mcp: { ...mcp, name: 'n'.repeat(1024) } })).toMatchObject({ 'gen_ai.tool.name': 'n'.repeat(1024) })
})

test.each([
  ['tool', 'gen_ai.tool.name'],
  ['prompt', 'gen_ai.prompt.name'],
  ['resource', 'mcp.resource.uri'],
] as const)('MCP messages: a %s is named %s, and the session only tells sessions apart', (resourceType, field) => {
  const mcp = {
    method: 'tools/call',
    target: 't',
    resourceType,
    name: 'n',
    sessionId: 's'.repeat(40),
    errorCode: -32_602,
  }
  const line = jsonOf({ mcp })
  expect(line).toMatchObject({
    'mcp.method.name': 'tools/call',
    'mcp.target': 't',
    'mcp.resource.type': resourceType,
    [field]: 'n',
    'mcp.error.code': -32_602,
  })
  expect(line['mcp.session.id']).toMatch(/^[0-9a-f]{12}$/)
  expect(jsonOf({ mcp: { sessionId: 'other' } })['mcp.session.id']).not.toBe(line['mcp.session.id'])
})

test('A2A messages', () => {
  const a2a = { method: 'SendMessage', outcome: 'success', resultKind: 'task', taskId: 't', contextId: 'c' } as const
  expect(jsonOf({ noted: { a2a: { ...a2a, taskState: 'working' } } })).toMatchObject({
    'a2a.method': 'SendMessage',
    'a2a.response.outcome': 'success',
    'a2a.result.kind': 'task',
    'a2a.task.state': 'working',
    'a2a.task.id': 't',
    'a2a.context.id': 'c',
  })
  expect(jsonOf({ noted: { a2a: { method: 'GetTask', outcome: 'error', errorCode: -32_001 } } })).toMatchObject({
    'a2a.response.outcome': 'error',
    'a2a.response.error_code': -32_001,
  })
})

test('credentials of the query are not written', () => {
  const request = observed({ line: 'GET /a?key=s3cret&x=1' })
  request.exchange.redactQueryParameter('key')
  const lines: string[] = []
  new AccessLog(TEXT_LINE, (line) => lines.push(line)).log(new Ended(request, clock.now(), 1, undefined))
  expect(lines[0]).toContain('http.path="/a?key=<redacted>&x=1"')
  expect(lines[0]).not.toContain('s3cret')
})

/** Requests in which a client, a provider or a failure brought the value of a Secret to a default field. */
const SECRET = 'sk-12345678'
const BROUGHT: Readonly<Record<string, ObservedInputs>> = {
  'http.path': { line: `GET /a/${SECRET}/b` },
  'http.host': { host: `${SECRET}.example.com` },
  'a2a.method': { noted: { a2a: { method: SECRET } } },
  'a2a.task.id': { noted: { a2a: { method: 'GetTask', taskId: SECRET } } },
  'jwt.sub': { jwt: { iss: 'i', sub: `user-${SECRET}` } },
  'jwt.iss': { jwt: { iss: `https://i/${SECRET}`, sub: 's' } },
  'mcp.method.name': { mcp: { method: SECRET } },
  'gen_ai.tool.name': { mcp: { resourceType: 'tool', name: SECRET } },
  'gen_ai.request.model': { llm: { requestModel: `m-${SECRET}` } },
  'gen_ai.response.model': { llm: { responseModel: SECRET } },
  endpoint: { endpointLabel: `${SECRET}:80` },
}

test.each(Object.keys(BROUGHT))('the value of a Secret is not written in %s', (field) => {
  for (const [format, secrets, written] of [
    [TEXT_LINE, [SECRET], false],
    [JSON_LINE, ['another-secret', SECRET], false],
    [TEXT_LINE, ['sk-12345679'], true],
    [JSON_LINE, [], true],
  ] as const) {
    const lines: string[] = []
    const log = new AccessLog(format, (line) => lines.push(line), new KnownSecrets(secrets))
    log.log(new Ended(observed(BROUGHT[field]), clock.now(), 1, undefined))
    expect(lines[0]).toContain(field)
    expect([lines[0]?.includes(SECRET), lines[0]?.includes('<redacted>')]).toEqual([written, !written])
  }
})

test('nor is it in an added field, at any depth', () => {
  const lines: string[] = []
  const log = new AccessLog(JSON_LINE, (line) => lines.push(line), new KnownSecrets([SECRET]))
  const add = { all: `[{"a": "${SECRET}", "${SECRET}": [1, null]}]`, one: `flatten({"${SECRET}": 2})` }
  const settings = settingsOf({ add })
  log.log(new Ended(observed({ settings }), clock.now(), 1, undefined))
  expect(JSON.parse(lines[0]!)).toMatchObject({
    all: [{ a: '<redacted>', '<redacted>': [1, null] }],
    'one.<redacted>': 2,
  })
})

test('nor is it in the error of a request or of a connection', () => {
  const lines: string[] = []
  const log = new AccessLog(TEXT_LINE, (line) => lines.push(line), new KnownSecrets([SECRET]))
  log.log(new Ended(observed(), clock.now(), 1, `no ${SECRET}`))
  log.logConnection(PEER, `no ${SECRET}`, 'Authorization')
  for (const line of lines) expect(line).toContain('error="no <redacted>"')
  expect(lines).toHaveLength(2)
})

test('nor is it anywhere in an added field', () => {
  const settings = settingsOf({ add: { added: '{"a": [1, null, {"b": request.path}], request.path: true}' } })
  const lines: string[] = []
  const log = new AccessLog(JSON_LINE, (line) => lines.push(line), new KnownSecrets([SECRET]))
  log.log(new Ended(observed({ settings, line: `GET /${SECRET}` }), clock.now(), 1, undefined))
  expect(JSON.parse(lines[0]!)).toMatchObject({
    added: { a: [1, null, { b: '/<redacted>' }], '/<redacted>': true },
  })
})

test('a line says how many were lost', () => {
  const lossLine = (format: typeof TEXT_LINE) => new AccessLog(format, () => {}).lossLine(3)
  expect(lossLine(TEXT_LINE)).toBe(`${START} error="3 lines of the access log were lost"\n`)
  expect(JSON.parse(lossLine(JSON_LINE))).toMatchObject({ error: '3 lines of the access log were lost' })
})

verifies('logTracingAttributes/remove', 'removed fields are not written, those of the place neither', () => {
  const remove = ['http.method', 'gateway', 'duration', 'http.status', 'mcp.error.code']
  const line = jsonOf({ settings: settingsOf({ remove }), mcp: { errorCode: 1 } })
  for (const name of remove) expect(line).not.toHaveProperty([name])
  expect(line).toMatchObject({ listener: 'http', 'http.path': '/path' })
})

test.each(['gateway', 'src.addr'])('removing %s from some lines removes it from no others', (name) => {
  const lines: string[] = []
  const log = new AccessLog(TEXT_LINE, (line) => lines.push(line))
  const remove = [name]
  for (const settings of [{ remove }, {}, {}, { remove }]) {
    log.log(new Ended(observed({ settings: settingsOf(settings) }), clock.now(), 1, undefined))
  }
  expect(lines.map((line) => line.includes(`${name}=`))).toEqual([false, true, true, false])
})

test('every connection has its own address', () => {
  const lines: string[] = []
  const log = new AccessLog(TEXT_LINE, (line) => lines.push(line))
  const [one, other] = [observed(), observed({ peer: { ...PEER, remotePort: 40_001 } })]
  for (const request of [one, other, one]) log.log(new Ended(request, clock.now(), 1, undefined))
  expect(lines.map((line) => /src\.addr=\S+/.exec(line)?.[0])).toEqual(
    [40_000, 40_001, 40_000].map((port) => `src.addr=192.0.2.7:${port}`),
  )
})

verifies(
  ['logTracingAttributes/add', 'frontend.accessLog/attributes'],
  'added fields carry the value of their expression',
  () => {
    const add = {
      'x.text': 'request.headers["x"]',
      'x.number': 'size(request.method)',
      'x.list': '[request.method, "a"]',
      'x.null': 'null',
      'x.yes': 'true',
    }
    const inputs = { settings: settingsOf({ add }), headers: { x: 'a value' } }
    expect(jsonOf(inputs)).toMatchObject({
      'x.text': 'a value',
      'x.number': 3,
      'x.list': ['GET', 'a'],
      'x.null': null,
      'x.yes': true,
    })
    const added = String.raw` x.text="a value" x.number=3 x.list="[\"GET\",\"a\"]" x.null=null x.yes=true`
    expect(textOf(inputs)!.split(' duration=12.4ms')[1]).toBe(`${added}\n`)
  },
)

test('flattened values become one field for each member', () => {
  const jwt = { sub: 'ann', 'a b=c\n': 1 }
  const add = {
    claims: 'flatten(jwt)',
    deep: 'flattenRecursive({"a": {"b": [1, "x"]}})',
    whole: 'toJson(flatten([1]))',
    bad: 'flatten(metadata)',
  }
  const line = jsonOf({ jwt, settings: settingsOf({ add }) })
  expect(line).toMatchObject({
    'claims.sub': 'ann',
    'claims.a b=c\n': 1,
    'deep.a.b.0': 1,
    'deep.a.b.1': 'x',
    whole: '[1]',
  })
  expect(Object.keys(line).filter((name) => /^(claims|bad|deep)$/.test(name))).toEqual([])
  const text = textOf({ jwt, settings: settingsOf({ add: { claims: 'flatten(jwt)' } }) })!
  expect(text.split(' duration=12.4ms')[1]).toBe(' claims.sub=ann "claims.a b=c\\n"=1\n')
})

verifies('logTracingAttributes/add-failure', 'a field whose expression fails is left out, the others are not', () => {
  const line = jsonOf({ settings: settingsOf({ add: { bad: 'request.headers["absent"]', good: '"g"' } }) })
  expect(line).not.toHaveProperty('bad')
  expect(line.good).toBe('g')
})

verifies('frontend.accessLog/filter', 'with a filter only requests for which it is true are written', () => {
  const filter = (text: string) => textOf({ settings: settingsOf({ filter: text }) }) !== undefined
  expect(filter('request.method == "GET"')).toBe(true)
  expect(filter('request.method == "POST"')).toBe(false)
  expect(filter('request.headers["absent"] == "x"')).toBe(false)
})

test('a filter that reaches a limit hides no request', () => {
  const filter = 'lists.range(100000).exists(x, lists.range(100000).exists(y, request.method == "x"))'
  expect(textOf({ settings: settingsOf({ filter }) })).toBeDefined()
})

test('the result shows whether a line was omitted', () => {
  const log = new AccessLog(TEXT_LINE, () => {})
  expect(log.log(new Ended(observed(), clock.now(), 1, undefined))).toBe(true)
  expect(log.log(new Ended(observed({ settings: settingsOf({ filter: 'false' }) }), clock.now(), 1, undefined))).toBe(
    false,
  )
})

test('a connection that was closed unread has a line of its own', () => {
  const lines: string[] = []
  new AccessLog(TEXT_LINE, (line) => lines.push(line)).logConnection(PEER, 'Deny rule x', 'Authorization')
  expect(lines).toEqual([
    `${START} src.addr=192.0.2.7:40000 dst.addr=127.0.0.1:8080 error="Deny rule x" reason=Authorization\n`,
  ])
})
