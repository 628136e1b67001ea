import { readdirSync, readFileSync } from 'node:fs'
import { createServer, type IncomingHttpHeaders } from 'node:http'
import type { AddressInfo } from 'node:net'
import { join } from 'node:path'
import { gunzipSync } from 'node:zlib'
import { afterEach, expect, test, vi } from 'vitest'
import { encodeEvent } from '#net/event-stream/event-frame.ts'
import { encodeHeaders } from '#net/event-stream/event-header.ts'
import { startCollector } from '#test/support/collector.ts'
import { eventually } from '#test/support/eventually.ts'
import { freePort } from '#test/support/free-port.ts'
import { startGateway } from '#test/support/gateway.ts'
import {
  backendRef,
  backendYaml,
  createObjectsFolder,
  gatewayYaml,
  joinYaml,
  routeYaml,
} from '#test/support/objects-folder.ts'
import { policyYaml } from '#test/support/policy-yaml.ts'
import { startTokenEndpoint } from '#test/support/token-endpoint.ts'

const KEY = 'sk-key-of-the-gateway-0123456789'
/** Replaces it while the last answer is awaited. */
const NEXT_KEY = 'next-key-of-the-gateway-0123456789'
/** Of clouds: no object has them. */
const TOKEN = 'ey-token-of-the-gateway-0123456789'
const SESSION = 'Session.of.the.gateway-0123456789'
/** Longer than outputs show texts, so that they end within the credential behind it. */
const LONG = 'm'.repeat(240)

const CREDENTIALS = [KEY, NEXT_KEY, TOKEN, SESSION]
/** Enough of a credential to tell it apart. */
const BEGINNINGS = CREDENTIALS.map((credential) => credential.slice(0, 10))

interface Reply {
  readonly status: number
  readonly type: string
  readonly body: string | Uint8Array
}

const json = (value: unknown, status = 200): Reply => ({
  status,
  type: 'application/json',
  body: JSON.stringify(value),
})
const events = (...data: readonly object[]): Reply => ({
  status: 200,
  type: 'text/event-stream',
  body: data
    .map((one) => `${'type' in one ? `event: ${String(one.type)}\n` : ''}data: ${JSON.stringify(one)}\n\n`)
    .join(''),
})
const frames = (...data: readonly (readonly [type: string, payload: object])[]): Reply => ({
  status: 200,
  type: 'application/vnd.amazon.eventstream',
  body: Buffer.concat(
    data.map(([type, payload]) => {
      const kind = type.endsWith('Exception') ? 'exception' : 'event'
      const headers = [
        { name: `:${kind}-type`, type: 'text' as const, value: type },
        { name: ':content-type', type: 'text' as const, value: 'application/json' },
        { name: ':message-type', type: 'text' as const, value: kind },
      ]
      return encodeEvent(encodeHeaders(headers), Buffer.from(JSON.stringify(payload)))
    }),
  ),
})

interface Dialect {
  answer(c: string): Reply
  stream(c: string): Reply
  /** The same without any content. */
  empty(c: string): Reply
}

/** What a provider answers in its API, with the credential in every place. */
const DIALECTS: Readonly<Record<string, Dialect>> = {
  completions: {
    answer: (c) =>
      json({
        ...{ id: c, model: LONG + c, service_tier: c, system_fingerprint: c },
        choices: [{ index: 0, message: { role: 'assistant', content: LONG + c }, finish_reason: c }],
        usage: { prompt_tokens: 1, completion_tokens: 1, total_tokens: 2 },
      }),
    stream: (c) =>
      events(
        { id: c, model: c, choices: [{ index: 0, delta: { content: c.slice(0, 5) }, finish_reason: null }] },
        { id: c, model: c, choices: [{ index: 0, delta: { content: c.slice(5) }, finish_reason: null }] },
        { error: { type: c, code: c, message: `no such key: ${c}`, param: c } },
      ),
    empty: (c) => events({ error: { type: c, code: c, message: `no such key: ${c}`, param: c } }),
  },
  messages: {
    answer: (c) =>
      json({
        ...{ type: 'message', role: 'assistant', id: c, model: LONG + c, stop_reason: c, stop_sequence: c },
        content: [{ type: 'text', text: LONG + c }],
        usage: { input_tokens: 1, output_tokens: 1, service_tier: c },
      }),
    stream: (c) =>
      events(
        {
          type: 'message_start',
          message: { type: 'message', role: 'assistant', id: c, model: c, content: [], usage: { input_tokens: 1 } },
        },
        { type: 'content_block_start', index: 0, content_block: { type: 'text', text: '' } },
        { type: 'content_block_delta', index: 0, delta: { type: 'text_delta', text: c } },
        { type: 'error', error: { type: c, message: `no such key: ${c}` } },
      ),
    empty: (c) => events({ type: 'error', error: { type: c, message: `no such key: ${c}` } }),
  },
  responses: {
    answer: (c) =>
      json({
        ...{ object: 'response', id: c, model: LONG + c, service_tier: c, status: 'completed' },
        output: [
          { type: 'message', id: c, role: 'assistant', content: [{ type: 'output_text', text: c, annotations: [] }] },
        ],
        usage: { input_tokens: 1, output_tokens: 1 },
      }),
    stream: (c) =>
      events(
        { type: 'response.created', response: { object: 'response', id: c, model: c, output: [] } },
        { type: 'response.output_text.delta', item_id: c, output_index: 0, content_index: 0, delta: c },
        { type: 'response.failed', response: { id: c, error: { code: c, message: `no such key: ${c}` } } },
      ),
    empty: (c) => events({ type: 'error', code: c, message: `no such key: ${c}`, param: c }),
  },
  converse: {
    answer: (c) =>
      json({
        output: { message: { role: 'assistant', content: [{ text: LONG + c }] } },
        ...{ stopReason: c, usage: { inputTokens: 1, outputTokens: 1, totalTokens: 2 } },
      }),
    stream: (c) =>
      frames(
        ['messageStart', { role: 'assistant' }],
        ['contentBlockDelta', { contentBlockIndex: 0, delta: { text: c } }],
        ['throttlingException', { message: `no such key: ${c}` }],
      ),
    empty: (c) => frames([`${c}Exception`, { message: `no such key: ${c}` }]),
  },
}

function dialectOf(path: string): Dialect {
  const name = /messages$/.test(path)
    ? 'messages'
    : /responses$/.test(path)
      ? 'responses'
      : /converse(?:-stream)?$/.test(path)
        ? 'converse'
        : 'completions'
  return DIALECTS[name]!
}

const ANSWERS: Readonly<Record<string, (dialect: Dialect, credential: string) => Reply>> = {
  answer: ({ answer }, c) => answer(c),
  refusal: (_, c) => json({ error: { type: c, code: c, message: `no such key: ${c}`, param: c }, message: c }, 401),
  page: (_, c) => ({ status: 500, type: 'text/html', body: `<p>${c}</p>` }),
  stream: ({ stream }, c) => stream(c),
  'empty-stream': ({ empty }, c) => empty(c),
  junk: (_, c) => ({ status: 200, type: 'application/json', body: c }),
}

function credentialIn(headers: IncomingHttpHeaders): string {
  const { authorization = '' } = headers
  const bearer = authorization.startsWith('Bearer ') ? authorization.slice('Bearer '.length) : undefined
  const others = ['x-api-key', 'api-key', 'x-amz-security-token'].map((name) => headers[name])
  return String([bearer, ...others].find((value) => value !== undefined))
}

/** @param late what requests with the field `x-late` wait for */
async function startProvider(sent: Set<string>, late: Promise<void>) {
  const server = createServer((request, response) => {
    request.resume()
    request.on('end', async () => {
      if (request.headers['x-late'] !== undefined) await late
      const credential = credentialIn(request.headers)
      sent.add(credential)
      const { status, type, body } = ANSWERS[String(request.headers['x-answer'])]!(dialectOf(request.url!), credential)
      const headers = { 'x-request-id': credential, 'x-own': LONG + credential, [`x-${credential}`]: credential }
      response.writeHead(status, credential, { 'content-type': type, ...headers }).end(body)
    })
  })
  await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve))
  return {
    port: (server.address() as AddressInfo).port,
    close: () => {
      server.closeAllConnections()
      server.close()
    },
  }
}

const added = [
  { name: 'own', expression: 'response.headers["x-own"]' },
  { name: 'every', expression: 'response.headers' },
  { name: 'said', expression: 'llm.completion' },
  { name: 'model', expression: 'llm.responseModel' },
]

const labels = [
  { name: 'own', expression: 'response.headers["x-own"]' },
  { name: 'said', expression: 'llm.completion[0]' },
  { name: 'named', expression: 'llm.responseModel' },
]

/** Provider and credential of each backend. Its route has its name. */
const backends = (key: string): Readonly<Record<string, readonly [provider: object, auth: object]>> => ({
  one: [{ providerOne: {} }, { key }],
  two: [
    { providerTwo: { endpoint: 'a.test', apiVersion: 'v1' } },
    { cloudTwo: { secretRef: { name: 'application' } } },
  ],
  key: [{ providerTwo: { endpoint: 'a.test', apiVersion: 'v1' } }, { key }],
  four: [{ providerFour: {} }, { key }],
  five: [{ providerFive: {} }, { key }],
  six: [{ providerSix: { projectId: 'a', region: 'b' } }, { key }],
  seven: [{ providerSeven: { region: 'us-east-1' } }, { cloudOne: { secretRef: { name: 'keys' } } }],
})
const ROUTE_TYPES = {
  '/detect': 'Detect',
  '/passthrough': 'Passthrough',
  '/messages': 'Messages',
  '/responses': 'Responses',
  '*': 'Completions',
}
const PATHS = [
  ...['one/chat', 'one/messages', 'one/responses', 'one/detect', 'one/passthrough'],
  ...['two/chat', 'two/messages', 'two/responses', 'two/detect', 'key/chat'],
  ...['four/messages', 'four/chat', 'five/responses', 'six/chat', 'seven/chat', 'seven/messages', 'http/a'],
]

afterEach(() => vi.unstubAllEnvs())

test('no output for operators has a credential of the gateway that a backend quotes', async () => {
  await using stops = new AsyncDisposableStack()
  const collector = stops.use(await startCollector())
  const tokens = stops.use(await startTokenEndpoint({ json: { access_token: TOKEN, expires_in: 3600 } }))
  vi.stubEnv('AZURE_AUTHORITY_HOST', tokens.url)
  const sent = new Set<string>()
  const late = Promise.withResolvers<void>()
  const provider = await startProvider(sent, late.promise)
  stops.defer(provider.close)
  const port = await freePort()
  const ai = ([name, [kind, auth]]: readonly [string, readonly [object, object]]) =>
    `\napiVersion: gatewright.dev/v1alpha1\nkind: ProxyBackend\nmetadata: { name: ${name} }\nspec: ${JSON.stringify({
      ai: { provider: { ...kind, host: '127.0.0.1', port: provider.port } },
      policies: { ai: { routes: ROUTE_TYPES }, auth },
    })}\n`
  const frontend = {
    tracing: { backendRef: backendRef('traces'), randomSampling: 'true', attributes: { add: added } },
    accessLog: { otlp: { backendRef: backendRef('traces') }, attributes: { add: added } },
    metrics: { attributes: { add: labels } },
  }
  const objects = (key: string) =>
    joinYaml(
      gatewayYaml(port),
      policyYaml('frontend', 'Gateway', 'main', { frontend }),
      backendYaml('traces', collector.grpcPort),
      backendYaml('http', provider.port),
      policyYaml('http', 'ProxyBackend', 'http', { backend: { auth: { key } } }),
      ...Object.entries(backends(key)).map(ai),
      ...['http', ...Object.keys(backends(key))].map((name) => routeYaml(name, `/${name}`, name)),
      `
apiVersion: v1
kind: Secret
metadata: { name: application }
stringData: { clientID: a, tenantID: b, clientSecret: client-secret-of-the-gateway }
---
apiVersion: v1
kind: Secret
metadata: { name: keys }
stringData: { accessKey: AKIDEXAMPLE, secretKey: secret-key-of-the-gateway, sessionToken: ${SESSION} }
`,
    )
  const folder = await createObjectsFolder({ 'all.yaml': objects(KEY) })
  stops.defer(folder.remove)
  const records = join(folder.path, '.records')
  const gateway = stops.use(
    await startGateway({
      files: [folder.path],
      workers: 1,
      arguments: ['--record-bodies', '300', '--records', records, '--log-level', 'debug'],
    }),
  )

  const shown = new Set<string>()
  let asked = 0
  const ask = async (path: string, answer: string, stream: boolean, more: Record<string, string> = {}) => {
    const model = 'anthropic.claude-a'
    const body = JSON.stringify({
      model,
      max_tokens: 9,
      stream,
      messages: [{ role: 'user', content: 'Hi.' }],
      input: 'Hi.',
    })
    const headers = { 'content-type': 'application/json', 'x-answer': answer, ...more }
    const response = await fetch(`http://127.0.0.1:${port}/${path}`, { method: 'POST', headers, body })
    const text = await response.text()
    if (CREDENTIALS.some((credential) => text.includes(credential))) shown.add(`${path} ${answer}`)
    asked++
  }
  for (const path of PATHS) {
    for (const answer of Object.keys(ANSWERS)) for (const stream of [false, true]) await ask(path, answer, stream)
  }
  const awaited = ['http/a', 'one/chat', 'four/chat'].map((path) => ask(path, 'answer', false, { 'x-late': 'yes' }))
  await folder.write('all.yaml', objects(NEXT_KEY))
  await eventually('the next key is sent', async () => {
    await ask('http/a', 'answer', false)
    return sent.has(NEXT_KEY)
  })
  late.resolve()
  await Promise.all(awaited)
  expect([...sent].sort()).toEqual([...CREDENTIALS].sort())
  // Bodies that pass as they are, and contents of answers, are for the client alone.
  expect(
    [...shown].filter((each) => /refusal|page|empty-stream/.test(each) && !/detect|passthrough|http/.test(each)),
  ).toEqual([])
  expect(shown).toContain('http/a page')

  await eventually('all of them are exported', () => {
    const of = (signal: string) => collector.received.filter((one) => one.signal === signal).length
    return of('logs') >= asked && of('traces') >= asked
  })
  const get = async (path: string, of = 15_000) => (await fetch(gateway.url(of) + path)).text()
  const pages = ['/', '/plan', '/status', '/traffic', '/mcp/sessions', '/decisions?limit=1000']
  const outputs: Record<string, string> = {
    ...Object.fromEntries(await Promise.all(pages.map(async (path) => [path, await get(path)] as const))),
    'access log': gateway.output.stdout,
    'application log': gateway.output.stderr,
    'log records and spans': JSON.stringify(collector.received.map(({ item, resource }) => [item, resource])),
    metrics: await get('/metrics', 15_020),
  }
  await gateway.close()
  const files = readdirSync(records).map((name) => gunzipSync(readFileSync(join(records, name))).toString())
  outputs.records = files.join('')
  expect(outputs['/decisions?limit=1000']).toContain('no such key: <redacted>')
  const found = Object.entries(outputs).map(([name, text]) => [
    name,
    BEGINNINGS.filter((beginning) => text.includes(beginning)),
  ])
  expect(found).toEqual(found.map(([name]) => [name, []]))
})
