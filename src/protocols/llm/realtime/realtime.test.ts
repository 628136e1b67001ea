import { expect, test } from 'vitest'
import { type LlmFacts, NO_LLM } from '#exchange/llm-facts.ts'
import { BodyClaim, BodyMemory } from '#net/body/body-memory.ts'
import type { Abort } from '#net/stream.ts'
import { compile, prepare, refused, type Setup } from '#test/support/prepare-llm.ts'
import { verifies } from '#test/support/verifies.ts'
import type { PreparedSession } from './prepare-session.ts'
import { SessionFilter } from './session-filter.ts'

const resource = { resourceName: 'r', resourceType: 'ResourceTypeOne' }
const project = { resourceName: 'r', resourceType: 'ResourceTypeTwo', projectName: 'my proj' }
const two = (apiVersion?: string) => ({
  providerTwo: { endpoint: 'r.openai.azure.com', deploymentName: 'd', ...(apiVersion && { apiVersion }) },
})

function asks(target: string, more: Setup = {}): Setup {
  const ai = { ...more.ai, routes: { '*': 'Realtime' } } as const
  return { method: 'GET', upgrade: 'websocket', target, ...more, ai }
}

function opened(target: string, more: Setup = {}): PreparedSession {
  const { prepared } = prepare(undefined, asks(target, more))
  if (prepared.kind !== 'open') throw new Error(`no session: ${JSON.stringify(prepared)}`)
  return prepared
}

const paths: [name: string, provider: object, target: string, path: string][] = [
  ['one', { providerOne: {} }, '/x/realtime?model=m', '/v1/realtime?model=m'],
  ['one, with a prefix', { providerOne: {}, host: 'h', pathPrefix: '/api/' }, '/?model=m', '/api/realtime?model=m'],
  ['one, with a path', { providerOne: {}, host: 'h', path: '/own?a=1' }, '/?model=m&a=2', '/own?a=1&model=m'],
  ['two', two(), '/?model=m', '/openai/v1/realtime?model=d'],
  ['two, a preview', two('preview'), '/?model=m', '/openai/v1/realtime?api-version=preview&model=d'],
  ['two, dated', two('2025-04-01'), '/?model=m&x=1', '/openai/realtime?api-version=2025-04-01&deployment=d&x=1'],
  ['three', { providerThree: resource }, '/?deployment=m', '/openai/v1/realtime?model=m'],
  ['three, v1', { providerThree: { ...resource, apiVersion: 'v1' } }, '/?model=m', '/openai/v1/realtime?model=m'],
  [
    'three, dated: the version of the client has no effect',
    { providerThree: { ...resource, apiVersion: '2025-04-01' } },
    '/?api-version=1&deployment=a%20b',
    '/openai/realtime?api-version=2025-04-01&deployment=a%20b',
  ],
  ['three, a project', { providerThree: project }, '/?model=m', '/api/projects/my%20proj/openai/v1/realtime?model=m'],
]
for (const [name, provider, target, path] of paths) {
  verifies(['llm.routes/realtime'], `paths of provider ${name}`, () => {
    expect(opened(target, { provider }).path).toBe(path)
  })
}

const models: [name: string, setup: Setup, target: string, path: string, model: string][] = [
  ['that of the client, as it wrote it', {}, '/?a=%41&model=a%2bb', '/v1/realtime?a=%41&model=a%2bb', 'a+b'],
  [
    'an alias',
    { ai: { modelAliases: { 'f*': 'a b/c' } } },
    '/?model=fast&z',
    '/v1/realtime?model=a%20b%2Fc&z',
    'a b/c',
  ],
  ['the configured one', { provider: { providerOne: { model: 'p' } } }, '/?model=m', '/v1/realtime?model=p', 'p'],
  ['the configured one, without any', { provider: { providerOne: { model: 'p' } } }, '/', '/v1/realtime?model=p', 'p'],
  [
    'an alias of the configured one',
    { provider: { providerOne: { model: 'p' } }, ai: { modelAliases: { p: 'q', m: 'x' } } },
    '/?model=m',
    '/v1/realtime?model=q',
    'q',
  ],
  ['none to transcribe', {}, '/?intent=transcription', '/v1/realtime?intent=transcription', ''],
  ['none to attach to a call', {}, '/?call_id=c', '/v1/realtime?call_id=c', ''],
]
test.each(models)('the model: %s', (_, setup, target, path, requestModel) => {
  const { facts, ...session } = opened(target, setup)
  expect([session.path, facts.requestModel]).toEqual([path, requestModel])
  expect(facts).toMatchObject({ operation: 'realtime', provider: 'openai', streaming: true })
})

const refusals: [name: string, setup: Setup, code: string, message: string][] = [
  ['no model', asks('/'), 'llm-model-missing', 'model is required'],
  ['an empty model', asks('/?model='), 'llm-query-invalid', 'invalid query: the model cannot be read'],
  [
    'a model that cannot be decoded',
    asks('/?model=%ff'),
    'llm-query-invalid',
    'invalid query: the model cannot be read',
  ],
  ['two models', asks('/?model=a&model=b'), 'llm-query-invalid', 'invalid query: more than one model'],
  ['a model in another case', asks('/?model=a&Model=b'), 'llm-query-invalid', 'invalid query: more than one model'],
  ['an escaped name', asks('/?model=a&m%6fdel=b'), 'llm-query-invalid', 'invalid query: more than one model'],
  ['a deployment, too', asks('/?model=a&deployment=b'), 'llm-query-invalid', 'invalid query: more than one model'],
  [
    'no upgrade',
    { ...asks('/?model=m'), upgrade: '' },
    'method-not-allowed',
    'method not allowed: a WebSocket is required',
  ],
  [
    'another upgrade',
    { ...asks('/?model=m'), upgrade: 'x' },
    'method-not-allowed',
    'method not allowed: a WebSocket is required',
  ],
  ['another method', { ...asks('/?model=m'), method: 'POST' }, 'method-not-allowed', 'method not allowed'],
]
test.each(refusals)('refused: %s', (_, setup, code, message) => {
  const { body, ...refusal } = refused(undefined, setup)
  expect(refusal).toMatchObject({ code, ...(code === 'method-not-allowed' && { headers: [['allow', 'GET']] }) })
  expect(JSON.parse(body ?? '')).toMatchObject({ error: { code, message } })
})

test.each([
  { providerThree: { ...project, model: 'claude-x' } },
  { providerFour: {} },
  { providerFive: {} },
  { providerSix: { projectId: 'p' } },
  { providerSeven: {} },
])('no sessions, and a finding: %j', (provider) => {
  expect(refused(undefined, asks('/?model=m', { provider })).code).toBe('llm-not-implemented')
  const { problems } = compile({ provider }, asks(''))
  expect(problems.filter((problem) => problem.startsWith('.routes'))).toEqual(['.routes["*"]: unsupported-conversion'])
})

const KEY = 'realtime, openai-insecure-api-key.sk-1,openai-beta.realtime-v1'
const protocols = { 'sec-websocket-protocol': KEY }
const credentials: [name: string, setup: Setup, headers: Readonly<Record<string, string>>, sent: [string, string][]][] =
  [
    ['its own key, if there is no other', {}, protocols, []],
    [
      'not its key, if the configuration has one',
      { credential: { source: 'key', location: 'elsewhere' } },
      protocols,
      [['sec-websocket-protocol', 'realtime, openai-beta.realtime-v1']],
    ],
    [
      'not its key, if the gateway has a token',
      {},
      { ...protocols, authorization: 'Bearer t' },
      [['sec-websocket-protocol', 'realtime, openai-beta.realtime-v1']],
    ],
    [
      'not its key, if a policy has authenticated it',
      { username: 'ann' },
      protocols,
      [['sec-websocket-protocol', 'realtime, openai-beta.realtime-v1']],
    ],
    [
      'protocols without a key',
      { username: 'ann' },
      { 'sec-websocket-protocol': 'realtime' },
      [['sec-websocket-protocol', 'realtime']],
    ],
  ]
test.each(credentials)('the provider gets from a client: %s', (_, setup, headers, sent) => {
  const { headers: edits } = opened('/?model=m', { ...setup, headers })
  expect(edits).toEqual({ set: sent, remove: ['sec-websocket-extensions'] })
})

test('a key that is the only protocol of a client leaves none', () => {
  const headers = { 'sec-websocket-protocol': 'OpenAI-insecure-api-key.sk-1' }
  expect(opened('/?model=m', { username: 'ann', headers }).headers).toEqual({
    set: [],
    remove: ['sec-websocket-extensions', 'sec-websocket-protocol'],
  })
})

test('provider two gets a configured key in its own header', () => {
  const headers = { authorization: 'Bearer k' }
  const credential = { source: 'key', location: 'usual' } as const
  const session = opened('/', { provider: two('2025-04-01'), credential, headers })
  expect(session.headers.set).toEqual([['api-key', 'k']])
})

interface Session {
  readonly facts: LlmFacts
  /** Total tokens whenever they were charged. */
  readonly charged: readonly (number | undefined)[]
  readonly failure: string | undefined
  readonly passed: string
}

/** Lets frames pass, byte by byte. */
function session(...frames: readonly Buffer[]): Session {
  return brokenSession(undefined, ...frames)
}

/** The same; then the connection breaks off. */
function brokenSession(why: Abort | undefined, ...frames: readonly Buffer[]): Session {
  const facts: LlmFacts = { ...NO_LLM }
  const charged: (number | undefined)[] = []
  const claim = new BodyClaim(new BodyMemory(10_000))
  const charge = () => charged.push(facts.totalTokens)
  const filter = new SessionFilter({ facts, claim, maxBytes: 2000, charge, estimates: true })
  let passed = ''
  const sink = filter.into({
    backed: false,
    source: null,
    takesFramed: true,
    bytes: (buffer, start, end) => {
      passed += buffer.toString('hex', start, end)
    },
    end: () => {},
    abort: () => {},
  })
  expect(sink.takesFramed).toBe(false)
  for (const byte of Buffer.concat(frames)) sink.bytes(Buffer.of(byte), 0, 1)
  if (why !== undefined) sink.abort(why)
  filter.settle()
  return { facts, charged, failure: filter.failure?.detail, passed }
}

function text(message: unknown): Buffer {
  const payload = Buffer.from(typeof message === 'string' ? message : JSON.stringify(message))
  const { length } = payload
  const size = length < 126 ? [length] : [126, length >> 8, length & 255]
  return Buffer.concat([Buffer.from([0x81, ...size]), payload])
}

const done = (usage: object | null, more: object = {}) => text({ type: 'response.done', response: { usage, ...more } })

test('tokens are the sum over all responses, and are charged with each', () => {
  const { facts, charged } = session(
    text({ type: 'session.created', session: { model: 'm-1' } }),
    text({ type: 'response.output_text.delta', delta: 'hello', response: { usage: { total_tokens: 1000 } } }),
    done(
      {
        total_tokens: 30,
        input_tokens: 20,
        output_tokens: 10,
        input_token_details: { cached_tokens: 5, text_tokens: 8, audio_tokens: 9, image_tokens: 3 },
        output_token_details: { text_tokens: 4, audio_tokens: 6 },
      },
      { id: 'resp-1' },
    ),
    done(null, { id: 'resp-2', status: 'cancelled' }),
    done({ input_tokens: 2, output_tokens: 1, input_token_details: { cached_tokens: 1 } }, { id: 'resp-3' }),
    text({
      type: 'conversation.item.input_audio_transcription.completed',
      usage: { type: 'tokens', total_tokens: 7, input_tokens: 6, output_tokens: 1 },
    }),
    text({ type: 'conversation.item.input_audio_transcription.completed', usage: { type: 'duration', seconds: 3 } }),
  )
  expect(charged).toEqual([30, 33, 40])
  expect(facts).toEqual({
    ...NO_LLM,
    responseModel: 'm-1',
    responseId: 'resp-3',
    inputTokens: 28,
    outputTokens: 12,
    totalTokens: 40,
    providerInputTokens: 28,
    providerTotalTokens: 40,
    cachedInputTokens: 6,
    inputTextTokens: 8,
    inputAudioTokens: 9,
    inputImageTokens: 3,
    outputTextTokens: 4,
    outputAudioTokens: 6,
  })
})

const piece = (type: string, delta: string, response_id = 'r') =>
  text({ type: `response.${type}.delta`, response_id, delta })
const WORDS = 'The gateway counts all of these words, because somebody has paid for them. '

test.each(['output_text', 'text', 'output_audio_transcript', 'function_call_arguments'])(
  'a client that leaves before its response is complete is charged for the %s that it got',
  (type) => {
    const frames = Array.from({ length: 100 }, () => piece(type, WORDS))
    const { facts, charged } = brokenSession('cancelled', ...frames)
    expect(charged).toEqual([])
    expect(facts.outputTokens! / 100).toBeGreaterThan(13)
    expect(facts.outputTokens! / 100).toBeLessThan(20)
    expect(facts).toMatchObject({ inputTokens: undefined, totalTokens: facts.outputTokens, areTokensEstimated: true })
    expect(facts.providerTotalTokens).toBeUndefined()
  },
)

test('only responses that have not reported their tokens are estimated', () => {
  const reported = done({ input_tokens: 3, output_tokens: 4, total_tokens: 7 }, { id: 'r' })
  expect(session(piece('text', WORDS), reported).facts).toMatchObject({ totalTokens: 7, areTokensEstimated: false })
  const { facts } = session(piece('text', 'a b c', 's'), piece('text', WORDS), reported, done(null, { id: 's' }))
  expect(facts).toMatchObject({ inputTokens: 3, outputTokens: 7, totalTokens: 10, areTokensEstimated: true })
})

test('audio is estimated by its length: 20 tokens for each second', () => {
  // 48,000 bytes in base64.
  const second = Array.from({ length: 40 }, () => piece('output_audio', 'A'.repeat(1530)))
  const { facts } = session(...second)
  expect(facts.outputTokens).toBeGreaterThan(18)
  expect(facts.outputTokens).toBeLessThan(22)
})

test('many responses at once are estimated together', () => {
  const frames = Array.from({ length: 100 }, (_, i) => piece('text', 'a b c ', `r${i}`))
  expect(session(...frames).facts.outputTokens).toBe(300)
})

test('a session without a response has no tokens', () => {
  const { facts, charged } = session(text({ type: 'session.updated', session: { model: 'm-2' } }), Buffer.of(0x88, 0))
  expect([facts, charged]).toEqual([{ ...NO_LLM, responseModel: 'm-2' }, []])
})

const failed = { status: 'failed', status_details: { error: { type: 'server_error' } } }
test.each([
  ['an error event', text({ type: 'error', error: { type: 'invalid_request_error' } }), 'invalid_request_error'],
  ['a failed response', done(null, failed), 'server_error'],
  ['an error with a text as its type', text({ type: 'error', error: { type: 'no name', code: 'a' } }), 'a'],
  ['an error without a type', text({ type: 'error', error: { code: 'a' } }), undefined],
])('the type of an error is known: %s', (_, frame, type) => {
  expect(session(frame).facts.errorType).toBe(type)
})

test.each([
  ['no JSON', text('{"type":"response.done"')],
  ['no object', text('["response.done"]')],
  ['no type', text({ response: { usage: { total_tokens: 1 } } })],
  ['a type that is no text', text({ type: 1 })],
  ['a broken escape', text('{"type":"response.done","response":{"id":"\\x","usage":{"total_tokens":1}}}')],
  ['no response', text({ type: 'response.done', response: 'x' })],
  ['counts that are none', done({ total_tokens: -1, input_tokens: '1' })],
])('nothing is read from %s', (_, frame) => {
  expect(session(frame)).toMatchObject({ facts: NO_LLM, charged: [], failure: undefined })
})

test('the code of the close is known', () => {
  expect(session(Buffer.of(0x88, 2, 0x0f, 0xa1)).facts.closeCode).toBe(4001)
})

const closed = Buffer.of(0x88, 0)
test.each<[why: Abort, frames: Buffer[], errorType: string | undefined]>([
  ['reset', [], 'reset'],
  ['reset', [closed], undefined],
  ['cancelled', [], undefined],
])('a connection that ends with %s is an error only before the close', (why, frames, errorType) => {
  expect(brokenSession(why, ...frames).facts.errorType).toBe(errorType)
})

test('what cannot be read passes, and is told', () => {
  const long = text({ type: 'response.done', x: 'x'.repeat(2000) })
  const good = done({ total_tokens: 3 })
  const missed = session(long, long, good)
  expect([missed.failure, missed.facts.totalTokens]).toEqual([
    'not all of the session was read: messages that exceeded a limit of memory: 2',
    3,
  ])
  const malformed = [good, Buffer.of(0xc1, 0), good]
  const broken = session(...malformed)
  expect([broken.failure, broken.facts.totalTokens, broken.facts.errorType, broken.passed]).toEqual([
    'not all of the session was read: a frame has a reserved bit, although no extension was negotiated',
    3,
    'protocol-error',
    Buffer.concat(malformed).toString('hex'),
  ])
})
