import { expect, test } from 'vitest'
import { compiled, DENIED, GRPC, HTTP, policyOf, SERVER, shown } from '#test/support/ext-auth-policy.ts'
import type { Reply } from '#test/support/fake-authorization-server.ts'
import { verifies } from '#test/support/verifies.ts'
import { linesOf } from '../testing.ts'

verifies(
  [
    'traffic.extAuth.http/path-default',
    'traffic.extAuth.http/allowedRequestHeaders-default',
    'traffic.extAuth/backendRef',
  ],
  'what an HTTP server is asked by default',
  async () => {
    const policy = policyOf(
      { backendRef: { group: 'gatewright.dev', kind: 'ProxyBackend', name: 'b' }, http: {} },
      { status: 200 },
    )
    const headers = { authorization: 'Bearer x', cookie: 'a=1', 'x-a': '1' }
    expect(shown(await policy.send({ method: 'DELETE', target: '/a?b=c', headers }))).toBe('allowed')
    expect(policy.destinations).toEqual(['ProxyBackend/default/b'])
    expect(policy.requests).toMatchObject([
      {
        purpose: 'authorization',
        method: 'DELETE',
        path: '/a?b=c',
        headers: [['authorization', 'Bearer x']],
        body: undefined,
        timeoutMs: 0,
        defaultDeadlineMs: 2000,
      },
    ])
    expect(policy.requests[0]!.protocol).toBeUndefined()
  },
)

verifies(
  ['traffic.extAuth.http/path', 'traffic.extAuth.http/allowedRequestHeaders', 'traffic.extAuth.http/addRequestHeaders'],
  'what an HTTP server is asked',
  async () => {
    const http = {
      path: '"/check" + request.path',
      allowedRequestHeaders: ['X-A', 'cookie', 'x-absent', 'x-gone'],
      addRequestHeaders: {
        'x-method': 'request.method',
        'x-a': 'request.headers["x-a"] + "!"',
        'x-gone': 'request.headers["absent"]',
        'x-number': '1',
        'x-lines': '"a\\nb"',
      },
    }
    const policy = policyOf({ ...SERVER, http }, { status: 200 })
    const headers = { authorization: 'Bearer x', cookie: ['a=1', 'b=2'], 'x-a': ['1', '2'], 'x-gone': '1' }
    await policy.send({ target: '/a?b=c', headers })
    expect(policy.requests).toMatchObject([
      {
        path: '/check/a',
        headers: [
          ['x-a', '1, 2!'],
          ['cookie', 'a=1; b=2'],
          ['x-method', 'GET'],
        ],
      },
    ])
    expect(policy.context.reports).toEqual([])
  },
)

test.each(['request.headers["absent"]', '1', '"no/slash"', '"/with space"', '1 +'])(
  'the path %s cannot be asked: the request is refused',
  async (path) => {
    for (const failureMode of ['FailClosed', 'FailOpen']) {
      const policy = policyOf({ ...SERVER, failureMode, http: { path } }, { status: 200 })
      expect(shown(await policy.send())).toEqual(DENIED)
      expect(policy.requests).toEqual([])
    }
  },
)

const PAGE = [
  ['content-type', 'text/html'],
  ['content-length', '3'],
  ['transfer-encoding', 'chunked'],
  ['connection', 'close, x-secret'],
  ['keep-alive', 'timeout=5'],
  ['www-authenticate', 'Basic'],
  ['set-cookie', 'a=1'],
  ['set-cookie', 'b=2'],
] as const
const PASSED = {
  headers: [
    ['www-authenticate', 'Basic'],
    ['set-cookie', 'a=1'],
    ['set-cookie', 'b=2'],
  ],
  contentType: 'text/html',
}

verifies('traffic.extAuth.http/status-200', 'only status 200 allows, in both failure modes', async () => {
  for (const failureMode of ['FailClosed', 'FailOpen']) {
    for (const status of [201, 202, 204, 206, 299, 500, 502, 503, 599]) {
      const policy = policyOf({ ...HTTP, failureMode }, { status, headers: PAGE, body: '<p>' })
      expect(shown(await policy.send()), String(status)).toEqual(DENIED)
    }
    for (const status of [300, 302, 307, 400, 401, 403, 404, 429, 499]) {
      const policy = policyOf({ ...HTTP, failureMode }, { status, headers: PAGE, body: '<p>' })
      expect(shown(await policy.send()), String(status)).toEqual({ status, body: '<p>', ...PASSED })
    }
    for (const status of [200]) {
      expect(shown(await policyOf({ ...HTTP, failureMode }, { status }).send()), String(status)).toBe('allowed')
    }
  }
})

test('a denial shows the client no header that is meant for the backend', async () => {
  const http = { allowedResponseHeaders: ['X-User', 'x-groups'] }
  const headers = [
    ['location', '/login'],
    ['x-user', 'kim'],
    ['x_groups', 'staff'],
    ['set-cookie', 'a=1'],
  ] as const
  for (const status of [302, 401, 403]) {
    const sent = await policyOf({ ...SERVER, http }, { status, headers, body: '' }).send()
    expect(shown(sent)).toMatchObject({
      status,
      headers: [
        ['location', '/login'],
        ['set-cookie', 'a=1'],
      ],
    })
  }
})

test('the server sees all spellings of a header, because a CGI-style backend joins them', async () => {
  const policy = policyOf({ ...SERVER, http: { allowedRequestHeaders: ['x-fwd'] } }, { status: 200 })
  await policy.send({ headers: { 'x-fwd': '1', X_Fwd: '2', 'x-fw': '3' } })
  await policy.send({ headers: { x_fwd: '2' } })
  expect(policy.requests.map(({ headers }) => headers)).toEqual([[['x-fwd', '1, 2']], [['x-fwd', '2']]])
})

test('a header of the answer in another spelling is that header', async () => {
  const http = { allowedResponseHeaders: ['x-user'] }
  const policy = policyOf({ ...SERVER, http }, { status: 200, headers: [['x_user', 'kim']] })
  const { exchange } = await policy.send({ headers: { 'x-user': 'forged' } })
  expect(linesOf(exchange.request)).toEqual(['x_user: kim'])
})

test('the body of a denial is passed on byte by byte', async () => {
  const body = Uint8Array.from([0, 0xff, 0xc3, 0x28])
  const { outcome } = await policyOf(HTTP, { status: 401, body }).send()
  expect(outcome).toMatchObject({ bytes: body })
})

test('a denial whose body does not arrive is a denial all the same', async () => {
  for (const failureMode of ['FailClosed', 'FailOpen']) {
    const breaks = policyOf({ ...HTTP, failureMode }, { status: 401, body: 'half', breaks: true })
    expect(shown(await breaks.send())).toEqual(DENIED)
    const large = policyOf({ ...HTTP, failureMode }, { status: 401, body: new Uint8Array(1024 * 1024 + 1) })
    expect(shown(await large.send())).toEqual(DENIED)
  }
})

verifies('traffic.extAuth.http/redirect', 'a client that has to sign in is redirected', async () => {
  const redirect = '"https://id.test/login?back=" + request.path'
  for (const status of [401, 403]) {
    const reply = { status, headers: PAGE, body: '<p>' }
    const sent = await policyOf({ ...SERVER, http: { redirect } }, reply).send({ method: 'POST', target: '/a?b=c' })
    expect(shown(sent)).toEqual({ status: 302, body: '', headers: [['location', 'https://id.test/login?back=/a']] })
    for (const fails of ['request.headers["absent"]', '1', '""', '"a\\r\\nset-cookie: x"', '1 +']) {
      expect(shown(await policyOf({ ...SERVER, http: { redirect: fails } }, reply).send()), fails).toEqual(DENIED)
    }
  }
  for (const status of [400, 404]) {
    const reply = { status, body: 'no' }
    expect(shown(await policyOf({ ...SERVER, http: { redirect } }, reply).send())).toEqual({ status, body: 'no' })
  }
  expect(shown(await policyOf({ ...SERVER, http: { redirect } }, { status: 500 }).send())).toEqual(DENIED)
  const down: Reply = { failure: 'timeout' }
  expect(shown(await policyOf({ ...SERVER, http: { redirect } }, down).send())).toEqual(DENIED)
})

verifies('traffic.extAuth.http/allowedResponseHeaders', 'headers of the answer are those of the request', async () => {
  const http = { allowedResponseHeaders: ['X-User', 'x-groups', 'x-absent'] }
  const forged = { 'x-user': 'forged', 'x-groups': 'all', x_absent: 'forged', 'x-other': '1' }
  const headers = [
    ['x-user', 'alice'],
    ['x-groups', 'a'],
    ['x-groups', 'b'],
    ['x-other', '2'],
  ] as const
  const sent = await policyOf({ ...SERVER, http }, { status: 200, headers }).send({ headers: forged })
  expect(linesOf(sent.exchange.request)).toEqual(['x-other: 1', 'x-user: alice', 'x-groups: a', 'x-groups: b'])
  const down: Reply = { failure: 'reset' }
  const open = await policyOf({ ...SERVER, http, failureMode: 'FailOpen' }, down).send({ headers: forged })
  expect(linesOf(open.exchange.request), 'not even when the server fails').toEqual(['x-other: 1'])
})

verifies('traffic.extAuth.http/responseMetadata', 'expressions see request and response', async () => {
  const responseMetadata = {
    user: 'response.headers["x-user"]',
    both: 'request.path + " " + string(response.code)',
    claims: 'json(response.body).claims',
    fails: 'response.headers["absent"]',
  }
  const reply = { status: 200, headers: [['x-user', 'alice']] as const, body: '{"claims":{"admin":true,"level":3}}' }
  const { exchange } = await policyOf({ ...SERVER, http: { responseMetadata } }, reply).send({ target: '/p' })
  expect(exchange.extauthz).toEqual({ user: 'alice', both: '/p 200', claims: { admin: true, level: 3 } })
  expect([exchange.response, exchange.responseBody.kind]).toEqual([undefined, 'unread'])
})

test('names of headers that cannot work', async () => {
  const http = {
    allowedRequestHeaders: ['x-a', 'Connection', ':path'],
    addRequestHeaders: { host: '"x"' },
    allowedResponseHeaders: ['content-length', 'x-user'],
  }
  const policy = policyOf({ ...SERVER, http }, { status: 200 })
  expect(policy.context.reports).toEqual([
    'no-effect spec.traffic.field.http.allowedRequestHeaders[1]',
    'header-invalid spec.traffic.field.http.allowedRequestHeaders[2]',
    'no-effect spec.traffic.field.http.allowedResponseHeaders[0]',
    'no-effect spec.traffic.field.http.addRequestHeaders[host]',
  ])
  expect(shown(await policy.send())).toEqual(DENIED)
})

test('parts of a request that the server sees count as read', () => {
  const readings = (written: object) => policyOf(written).context.readings
  expect(readings(GRPC)).toEqual(['.grpc: path fields'])
  expect(readings(HTTP)).toEqual(['.http: path'])
  expect(readings({ ...SERVER, http: { path: '"/fixed"' } })).toEqual([])
  const http = { allowedRequestHeaders: ['X-A'], allowedResponseHeaders: ['x-b'] }
  const run = compiled({ ...SERVER, http })
  expect(run.fields).toEqual({ request: ['x-a', 'x-b'] })
})
