import { expect, test } from 'vitest'
import { refusalStatus, reject } from '#exchange/outcome.ts'
import { exchangeWith } from '#policies/shared/testing.ts'
import { compile, prepare, refused, type Setup, sent } from '#test/support/prepare-llm.ts'
import { verifies } from '#test/support/verifies.ts'
import { refuseInDialect } from '../route/prepare-request.ts'
import { otherInterface } from './known-paths.ts'
import { compileRouteTypes, lenientRouteType, modelPath, modelTargets, resolveRouteType } from './route-type.ts'

const routes = compileRouteTypes({
  '/messages': 'Messages',
  '/v1/messages': 'Detect',
  '/b': 'Embeddings',
  '/a': 'Responses',
  '*': 'Passthrough',
})

verifies(
  ['llm.routes/suffix-match', 'llm.routes/any-path'],
  'longest suffix first, `*` last, the query does not count',
  () => {
    const cases: [target: string, type: string][] = [
      ['/v1/messages', 'Detect'],
      ['/v2/messages?x=/a', 'Messages'],
      ['/x/a', 'Responses'],
      ['/x/A', 'Passthrough'],
      ['/x?/v1/messages', 'Passthrough'],
    ]
    for (const [target, type] of cases) expect(resolveRouteType(routes, target, target)).toBe(type)
  },
)

test('suffixes and paths are compared in one form (A-51)', () => {
  const spelled = compileRouteTypes({ '/v1//%6dessages': 'Messages', '/@a': 'Detect' })
  for (const target of ['/v1/messages', '//v1//messages?x', '/%761/mess%61ges']) {
    expect(resolveRouteType(spelled, target, target)).toBe('Messages')
  }
  expect(resolveRouteType(spelled, '/%40a', '/')).toBe('Detect')
  expect(resolveRouteType(spelled, '/', '/x//%40a')).toBe('Detect')
})

test.each([
  '/v1/chat/completions',
  '/v1/chat/completions/',
  '/v1/chat/completions//?a=/models',
  '/v1/chat/completion%73',
  '//v1/%63hat//completions/',
])('no spelling of %s falls through to another type', (target) => {
  const open = compileRouteTypes({ '/chat/completions': 'Completions', '/models/': 'Models', '*': 'Passthrough' })
  expect(resolveRouteType(open, target, target)).toBe('Completions')
  expect(resolveRouteType(open, '/x/models', '/')).toBe('Models')
  const root = compileRouteTypes({ '/': 'Detect', '*': 'Passthrough' })
  expect([resolveRouteType(root, '/', '/'), resolveRouteType(root, '/a/', '/a/')]).toEqual(['Detect', 'Passthrough'])
})

test.each([
  '/V1/Chat/Completions',
  '/v1/chat/completions%20',
  '/v1/chat/completions%09%0A/',
  '/v1/chat/completions%3Fa=b',
  '/v1/chat/completions%23a',
  '/v1/chat/completion%2573',
  '/v1/chat/completions%252F',
  '/v1/chat/completions%25252F',
  '/v1/chat/c%25256Fmpletions',
  '/v1/chat/completions%C2%A0',
  '/v1/chat/completions%E3%80%80/',
  '/v1/chat/completions.',
  '/v1/chat/completions%20;a=b',
  '/v1/chat/completions%3Ba=b/',
  '/v1/chat%3B/completions%2F%3B',
  '/%FF/v1/chat/completions%20',
  '/v1/chat/completions%E2%80%8B',
  '/v1/chat/completions%C2%AD',
  '/v1/chat/completions%C2%85',
  '/v1/chat/completions%85',
  '/v1/chat/completions%ff%A0/',
  '/v1/chat/completions.json',
  '/v1/chat/completions.JSON%20',
  '/v1/chat/completion%C5%BF',
])('%s, which only some providers read as chat completions, is no way around guards', (target) => {
  const routes = { '/chat/completions': 'Completions' as const, '*': 'Passthrough' as const }
  const promptGuard = { request: [{ regex: { action: 'Mask' as const, matches: ['x'] } }] }
  expect(refused('{"model":"m"}', { ai: { routes, promptGuard }, target })).toMatchObject({ code: 'path-ambiguous' })
  expect(sent('{"model":"m"}', { ai: { routes }, target }).path).toBe(target)
  expect(sent('{"model":"m"}', { ai: { routes, promptGuard }, target: '/v1/files' }).path).toBe('/v1/files')
})

test('a form at the end may be that of the configured path', () => {
  const routes = compileRouteTypes({ '/chat.json': 'Completions', '/chat': 'Messages', '*': 'Passthrough' })
  const types = ['/Chat.json', '/Chat', '/chat.xml', '/files'].map((path) => lenientRouteType(routes, path))
  expect(types).toEqual(['Completions', 'Messages', 'Messages', undefined])
})

test.each(['/v1/Realtime?model=m', '/v1/realtime%20?model=m'])(
  '%s is no way around the guards of sessions',
  (target) => {
    const routes = { '/v1/realtime': 'Realtime' as const, '*': 'Passthrough' as const }
    const promptGuard = { request: [{ regex: { action: 'Mask' as const, matches: ['x'] } }] }
    const session = { method: 'GET', upgrade: 'websocket', target } as const
    expect(refused(undefined, { ...session, ai: { routes, promptGuard } })).toMatchObject({ code: 'path-ambiguous' })
    expect(sent(undefined, { ...session, ai: { routes } }).path).toBe(target)
    const { prepared } = prepare(undefined, {
      ...session,
      target: target.replace(/Realtime|realtime%20/, 'realtime'),
      ai: { routes, promptGuard },
    })
    expect(prepared.kind).toBe('open')
  },
)

test('a slash at the end does not reach the provider of a type with a format', () => {
  const ai = { routes: { '/chat/completions': 'Completions' as const, '*': 'Passthrough' as const } }
  const { path } = sent('{"model":"m"}', { ai, target: '/v1/chat/completion%73/?a=b' })
  expect(path).toBe('/v1/chat/completions?a=b')
})

verifies('llm.routes/unset', 'without routes everything is Completions', () => {
  for (const none of [undefined, {}])
    expect(resolveRouteType(compileRouteTypes(none), '/v1/messages', '/')).toBe('Completions')
})

test('with routes, a path that nothing matches has no type, and is refused in the dialect of its interface (B03)', () => {
  const some = compileRouteTypes({ '/a': 'Messages' })
  expect([resolveRouteType(some, '/b', '/b'), resolveRouteType(some, '/b', '/a')]).toEqual([undefined, 'Messages'])
  const refusalAt = (target: string) =>
    refused(undefined, { ai: { routes: { '/chat/completions': 'Completions' } }, target })
  const images = refusalAt('/v1/images/generations')
  expect(images).toMatchObject({ code: 'llm-route-unknown', contentType: 'application/json' })
  expect(JSON.parse(images.body ?? '')).toEqual({
    error: {
      message: 'no route type for this path',
      type: 'invalid_request_error',
      param: null,
      code: 'llm-route-unknown',
    },
  })
  expect(JSON.parse(refusalAt('/v1/messages').body ?? '')).toEqual({
    type: 'error',
    error: {
      type: 'not_found_error',
      message: 'no route type for this path',
      code: 'llm-route-unknown',
      details: { error_code: 'llm-route-unknown' },
    },
  })
})

test.each([
  ['/v1/responses/compact', 'POST', '/responses/compact', 'invalid_request_error'],
  ['/v1/responses/input_tokens', 'POST', '/responses/input_tokens', 'invalid_request_error'],
  ['/v1/responses/resp_1?include=x', 'GET', '*', 'invalid_request_error'],
  ['/v1/responses/resp_1', 'DELETE', '*', 'invalid_request_error'],
  ['/v1/responses/resp_1/cancel', 'POST', '/cancel', 'invalid_request_error'],
  ['/v1/responses/resp_1/input_items', 'GET', '/input_items', 'invalid_request_error'],
  ['/v1/chat/completions/c1', 'GET', '*', 'invalid_request_error'],
  ['/v1/messages/batches?beta=true', 'POST', '/messages/batches', 'not_found_error'],
  ['/v1/messages/batches/b1', 'DELETE', '*', 'not_found_error'],
  ['/v1/messages/batches/b1/results', 'GET', '/results', 'not_found_error'],
])('the refusal of %s by %s names the entry %s, which forwards it', (target, method, key, type) => {
  const typed = { '/messages': 'Messages', '/responses': 'Responses', '/chat/completions': 'Completions' } as const
  const refusal = refused(undefined, { ai: { routes: typed }, target, method })
  expect(refusal.code).toBe('llm-route-unknown')
  expect(JSON.parse(refusal.body ?? '').error).toMatchObject({
    type,
    message: `no route type for this path: the gateway does not read this call; the entry "${key}: Passthrough" in routes forwards it unread`,
  })
  expect(sent(undefined, { ai: { routes: { ...typed, [key]: 'Passthrough' } }, target, method }).path).toBe(target)
  const all = refused(undefined, { ai: { routes: { '*': 'Completions' } }, target, method: 'GET' })
  expect(all.code).toBe('llm-route-unknown')
  if (key === '*') return
  const posted = refused(undefined, { ai: { routes: { '*': 'Responses' } }, target, method: 'POST' })
  expect(posted.code).toBe('llm-route-unknown')
  // Without entries it is a chat completion, which has a body.
  expect(refused(undefined, { ai: { routes: {} }, target, method: 'POST' }).code).toBe('llm-body-invalid')
})

test('a WebSocket at the path of a format is 426, which makes clients use HTTP', () => {
  const setup = { ai: { routes: { '/responses': 'Responses' } }, target: '/v1/responses', method: 'GET' } as const
  const plain = refused(undefined, setup)
  expect([plain.code, plain.headers]).toEqual(['method-not-allowed', [['allow', 'POST']]])
  const refusal = refused(undefined, { ...setup, upgrade: 'WebSocket' })
  expect([refusal.code, refusalStatus(refusal), refusal.headers]).toEqual([
    'llm-websocket-unsupported',
    426,
    [
      ['allow', 'POST'],
      ['upgrade', 'HTTP/1.1'],
    ],
  ])
})

test('a model of a list is asked for by GET, below the path of the list; other entries go first', () => {
  const routed = { '/models': 'Models', '/chat/completions': 'Completions' } as const
  const kind = (routes: object, target: string, method = 'GET') =>
    prepare(undefined, { ai: { routes: { ...routed, ...routes } as never }, target, method }).prepared.kind
  expect(kind({}, '/v1/models/m')).toBe('models')
  expect(kind({ '*': 'Completions' }, '/v1/models/m')).toBe('models')
  expect(kind({ '*': 'Passthrough' }, '/v1/models/m')).toBe('send')
  expect(kind({ '/m': 'Detect' }, '/v1/models/m')).toBe('send')
  expect(kind({}, '/v1/models/m', 'POST')).toBe('refusal')
  expect(modelPath(compileRouteTypes(routed), '/x/v1/models/a%2Fb%20c/?y')).toEqual({
    list: '/x/v1/models',
    id: 'a/b c',
  })
  expect(modelPath(compileRouteTypes(routed), '/v1/models')).toBeUndefined()
})

test.each([
  ['/v1/chat/completions', undefined],
  ['/v1/chat/completions?x=/v1/messages', undefined],
  ['/v1//chat/%63ompletions', undefined],
  ['/v1/chat/completions/', undefined],
  ['/v1/messages/', '/messages'],
  ['/anything', undefined],
  ['/v1/completions?a=b', '/completions'],
  ['/v1/images/generations', '/images/generations'],
  ['/team/v1//mess%61ges', '/messages'],
  ['/v1/messages/count_tokens', '/messages/count_tokens'],
  ['/v1/responses/compact', '/responses/compact'],
])('the interface of %s', (target, end) => {
  expect(otherInterface(target)?.end).toBe(end)
})

test('the path that the client sent decides when the rewritten one fits nothing (B02)', () => {
  expect(resolveRouteType(routes, '/rewritten', '/team/v2/messages')).toBe('Messages')
  expect(resolveRouteType(routes, '/a', '/b')).toBe('Responses')
  expect(resolveRouteType(routes, '/rewritten', '/other')).toBe('Passthrough')
})

const raw = (type: 'Passthrough' | 'Detect'): Setup => ({
  ai: {
    routes: { '*': type },
    overrides: [{ field: 'n', value: 1 }],
    modelAliases: { m: 'x' },
    promptGuard: { request: [{ regex: { action: 'Reject', matches: ['m'] } }] },
  },
  provider: { providerOne: { model: 'pin' }, path: '/other', pathPrefix: '/p' },
  method: 'PATCH',
  target: '/whatever?a=b',
})

verifies(['llm.routes/passthrough', 'llm.routes/detect-as-is'], 'sent as they are (B05, B06)', () => {
  for (const type of ['Passthrough', 'Detect'] as const) {
    const { path, body, facts } = sent('{"model":"m","stream":true}', raw(type))
    expect({ path, body }).toEqual({ path: '/whatever?a=b', body: undefined })
    if (type === 'Passthrough') expect(facts).toBeUndefined()
    else expect(facts).toMatchObject({ requestModel: 'm', streaming: true })
  }
  expect(sent('no json', raw('Detect')).facts).toMatchObject({ requestModel: '', streaming: false })
  for (const unread of [undefined, null]) expect(sent(unread, raw('Detect')).kind).toBe('send')
})

test('methods of route types', () => {
  const refusal = refused('{"model":"m"}', { method: 'GET' })
  expect(refusal).toMatchObject({ code: 'method-not-allowed', headers: [['allow', 'POST']] })
  const models = refused('', { ai: { routes: { '*': 'Models' } } })
  expect(models).toMatchObject({ code: 'method-not-allowed', headers: [['allow', 'GET']] })
})

test('a body over the limit is refused on routes that need it', () => {
  const refusal = refused(null)
  expect(refusal.code).toBe('body-too-large')
  expect(JSON.parse(refusal.body ?? '').error.message).toMatch(
    /^request body too large: the limit is \d+ bytes \(frontend\.http\.maxBufferSize\)$/,
  )
})

test('errors come in the dialect of the client', () => {
  const setup: Setup = { ai: { routes: { '*': 'Messages' } }, provider: { providerFour: {} } }
  expect(JSON.parse(refused('{}', setup).body ?? '')).toEqual({
    type: 'error',
    error: {
      type: 'invalid_request_error',
      message: 'model is required',
      code: 'llm-model-missing',
      details: { error_code: 'llm-model-missing' },
    },
  })
  expect(JSON.parse(refused(null, setup).body ?? '').error.type).toBe('request_too_large')
})

test('a body that a policy has compressed is refused', () => {
  const refusal = refused('{"model":"m"}', { headers: { 'content-encoding': 'gzip' } })
  expect(refusal.code).toBe('content-coding-unsupported')
  expect(JSON.parse(refusal.body ?? '').error.message).toBe('unsupported content encoding')
})

test('refusals of other steps come in the dialect too, configured bodies stay', () => {
  const { plan } = compile({ provider: { providerFour: {} } }, { ai: { routes: { '/messages': 'Messages' } } })
  const exchange = exchangeWith({ method: 'POST', target: '/v1/messages?a=b' })
  const refusal = refuseInDialect(plan, exchange, reject('rate-limited', { headers: [['retry-after', '1']] }))
  expect(refusal).toMatchObject({
    code: 'rate-limited',
    headers: [['retry-after', '1']],
    contentType: 'application/json',
  })
  expect(JSON.parse(refusal.body ?? '')).toEqual({
    type: 'error',
    error: {
      type: 'rate_limit_error',
      message: 'rate limit exceeded',
      code: 'rate-limited',
      details: { error_code: 'rate-limited' },
    },
  })
  const configured = reject('authorization-denied', { body: 'no' })
  expect(refuseInDialect(plan, exchange, configured)).toBe(configured)
})

test.each<[client: string, headers: Record<string, string>, error: object]>([
  ['messages', { 'anthropic-version': '2023-06-01' }, { type: 'error', error: { type: 'permission_error' } }],
  ['chat completions', {}, { error: { code: 'authorization-denied', param: null } }],
])('a refused list of models for a client of %s', (_, headers, error) => {
  const { plan } = compile({ provider: { providerFour: {} } }, { ai: { routes: { '/models': 'Models' } } })
  const exchange = exchangeWith({ method: 'GET', target: '/v1/models', headers })
  const refusal = refuseInDialect(plan, exchange, reject('authorization-denied'))
  expect(JSON.parse(refusal.body ?? '')).toMatchObject(error)
})

test.each<
  [
    routes: Record<string, 'Models' | 'Completions' | 'Messages' | 'MessagesTokenCount'>,
    target: string,
    targets: string[],
  ]
>([
  [{ '/v1/models': 'Models' }, '/x/v1/models?a', ['/x/v1/models']],
  [{ '/models': 'Models', '/chat/completions': 'Completions' }, '/x/models?a', ['/x/chat/completions']],
  [
    { '/models': 'Models', '/messages': 'Messages', '/c': 'Completions', '/count': 'MessagesTokenCount' },
    '/models',
    ['/messages', '/c'],
  ],
  [{ '/c': 'Completions', '*': 'Models' }, '/anything', ['/anything']],
  [{ '/models': 'Models', '/c': 'Completions' }, '/other', ['/other']],
])('with routes %j, clients that list %s send requests to %j', (given, target, targets) => {
  expect(modelTargets(compileRouteTypes(given), target)).toEqual(targets)
})
