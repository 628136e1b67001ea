import { beforeAll, expect, test } from 'vitest'
import type { Echo } from '#examples/upstreams/echo.ts'
import { verifies } from '#test/support/verifies.ts'
import { type Quickstart, startQuickstart } from './start-quickstart.ts'

// HTTP and policies as the README tells them; protocols.test.ts does the same for LLM, MCP and A2A.

let quickstart: Quickstart

beforeAll(async () => {
  quickstart = await startQuickstart()
  return quickstart.close
})

interface Answer {
  readonly status: number
  readonly headers: Headers
  readonly text: string
}

async function ask(path: string, init: RequestInit = {}): Promise<Answer> {
  const response = await fetch(`${quickstart.base}${path}`, { redirect: 'manual', ...init })
  return { status: response.status, headers: response.headers, text: await response.text() }
}

async function askEcho(path: string, init: RequestInit = {}): Promise<Echo> {
  const { status, text } = await ask(path, init)
  expect(status).toBe(200)
  return JSON.parse(text) as Echo
}

// First of all: the bucket is full now and refilled a minute after the start.
verifies(
  'traffic.rateLimit.local/requests-429',
  'the third request to /limited within the minute is refused',
  async () => {
    const answers = [await ask('/limited'), await ask('/limited'), await ask('/limited')]
    expect(answers.map((answer) => answer.status)).toEqual([200, 200, 429])
    expect(answers.map((answer) => answer.headers.get('x-ratelimit-limit'))).toEqual(['2', '2', '2'])
    expect(answers.map((answer) => answer.headers.get('x-ratelimit-remaining'))).toEqual(['1', '0', '0'])
    const [, , refused] = answers
    expect(refused?.text).toMatch(/^rate limit exceeded: 2 requests per minute; wait until .*Z$/)
    expect(Number(refused?.headers.get('retry-after'))).toBeGreaterThanOrEqual(1)
    expect(Number(refused?.headers.get('retry-after'))).toBeLessThanOrEqual(60)
    expect(refused?.headers.get('gatewright-decision')).toMatch(/./)
  },
)

const destinations = [
  // method  path              headers                   server
  ['GET', '/', {}, 'blue'],
  ['GET', '/any/thing', {}, 'blue'],
  ['GET', '/any/thing', { 'x-version': 'green' }, 'green'],
  ['GET', '/any/thing', { 'x-version': 'Green' }, 'blue'],
  ['GET', '/orders/7', {}, 'blue'],
  ['POST', '/orders', {}, 'green'],
  ['GET', '/keysmith', {}, 'blue'],
] as const

for (const [method, path, headers, server] of destinations) {
  verifies(
    ['service/forwards-http', 'backend.static/tcp'],
    `${method} ${path} ${JSON.stringify(headers)} goes to ${server}`,
    async () => {
      const echo = await askEcho(path, { method, headers })
      expect(echo).toMatchObject({ name: server, method, path })
    },
  )
}

test('the query, the body and the headers reach the server unchanged', async () => {
  const init = { method: 'PUT', headers: { 'X-Color': 'red', 'content-type': 'text/plain' }, body: 'hé' }
  const echo = await askEcho('/a%20b?q=1&q=2', init)
  expect(echo).toMatchObject({ method: 'PUT', path: '/a%20b?q=1&q=2', body: 'hé' })
  expect(echo.headers).toMatchObject({
    'x-color': 'red',
    'content-type': 'text/plain',
    host: new URL(quickstart.base).host,
  })
})

const passed = [
  // path                     status  content type             body
  ['/x?status=404', 404, 'application/json', /^\{"name":"blue",.*"path":"\/x\?status=404"/],
  ['/x?status=503', 503, 'application/json', /^\{"name":"blue",.*"path":"\/x\?status=503"/],
  ['/x?status=204', 204, 'application/json', /^$/],
  ['/x?delay=20', 200, 'application/json', /^\{"name":"blue",.*"path":"\/x\?delay=20"/],
  ['/x?stream=3', 200, 'text/event-stream', /^(data: \{"name":"blue","event":[123],"of":3,.*\}\n\n){3}$/],
] as const

for (const [path, status, contentType, body] of passed) {
  test(`the answer to ${path} comes back as the server gave it`, async () => {
    const answer = await ask(path)
    expect([answer.status, answer.headers.get('content-type')]).toEqual([status, contentType])
    expect(answer.headers.get('x-served-by')).toBe('blue')
    expect(answer.text).toMatch(body)
  })
}

test('/split goes to both servers and to no other', async () => {
  const echoes = await Promise.all(Array.from({ length: 100 }, () => askEcho('/split')))
  const blue = echoes.filter((echo) => echo.name === 'blue').length
  const green = echoes.filter((echo) => echo.name === 'green').length
  expect(blue + green).toBe(100)
  // Three to one: the chance that fewer than 40 or all of 100 go to blue is below one in a million million.
  expect(blue).toBeGreaterThanOrEqual(40)
  expect(green).toBeGreaterThan(0)
})

test('/headers changes the headers of request and response', async () => {
  const answer = await ask('/headers', { headers: { 'x-from': 'me', 'x-tag': 'mine', 'x-secret': 's' } })
  const { headers } = JSON.parse(answer.text) as Echo
  expect(headers['x-from']).toBe('gatewright')
  expect([headers['x-tag']].flat().join(', ')).toBe('mine, added')
  expect(headers).not.toHaveProperty('x-secret')
  expect(answer.headers.get('x-answered-by')).toBe('gatewright')
  expect(answer.headers.get('x-served-by')).toBeNull()
  // The filters of the rule are its header modifiers; the Gateway's are replaced whole.
  expect(answer.headers.get('x-policy')).toBeNull()
})

const rewrites = [
  // asked                served
  ['/api', '/v2'],
  ['/api/items?x=1', '/v2/items?x=1'],
] as const

for (const [asked, served] of rewrites) {
  test(`${asked} is served as ${served} of shop.internal`, async () => {
    const echo = await askEcho(asked)
    expect(echo).toMatchObject({ name: 'green', path: served, headers: { host: 'shop.internal' } })
  })
}

test('/old/page?x=1 sends the caller to /new/page?x=1', async () => {
  const answer = await ask('/old/page?x=1')
  expect([answer.status, answer.headers.get('location'), answer.text]).toEqual([
    301,
    `${quickstart.base}/new/page?x=1`,
    '',
  ])
})

const levels = [
  // path               x-policy
  ['/any', 'gateway'],
  ['/old/page', 'gateway'],
  ['/levels', 'route'],
  ['/levels/other', 'route'],
  ['/levels/deep', 'rule'],
  ['/levels/deep/er', 'rule'],
] as const

for (const [path, policy] of levels) {
  verifies(
    [
      'policy/merge-field-by-field',
      'policy/precedence-traffic',
      'policy/targetRefs-sectionName',
      'policy/traffic-target-gateway',
      'policy/traffic-target-route',
      'policy/traffic-target-route-rule',
      'traffic.headerModifiers/response',
    ],
    `${path} answers x-policy: ${policy}, and keeps the transformation of the Gateway`,
    async () => {
      const { headers } = await ask(path)
      expect([headers.get('x-policy'), headers.get('x-asked')]).toEqual([policy, 'GET'])
    },
  )
}

const keys = [
  // key                    status  body                        challenge
  [undefined, 401, 'authentication required', /^Bearer/],
  ['k-nobody', 401, 'authentication failed', /^Bearer/],
  ['k-bob', 403, 'authorization failed', /^$/],
  ['k-carol', 403, 'authorization failed', /^$/],
] as const

for (const [key, status, body, challenge] of keys) {
  verifies(
    [
      'traffic.apiKeyAuthentication/strict-missing',
      'traffic.apiKeyAuthentication/strict-invalid',
      'traffic.apiKeyAuthentication/entry-string',
      'traffic.authorization/denied-403',
    ],
    `/keys with key ${key} is refused`,
    async () => {
      const answer = await ask('/keys/x', { ...(key && { headers: { authorization: `Bearer ${key}` } }) })
      expect([answer.status, answer.text]).toEqual([status, body])
      expect(answer.headers.get('www-authenticate') ?? '').toMatch(challenge)
      expect(answer.headers.get('gatewright-decision')).toMatch(/./)
      // The header modifiers of the Gateway act on refusals as well.
      expect(answer.headers.get('x-policy')).toBe('gateway')
    },
  )
}

verifies(
  [
    'traffic.apiKeyAuthentication/secretRef',
    'traffic.apiKeyAuthentication/strict-valid',
    'traffic.apiKeyAuthentication/entry-json',
    'traffic.apiKeyAuthentication/metadata',
    'traffic.apiKeyAuthentication/location-default',
    'traffic.apiKeyAuthentication/credential-stripped',
  ],
  '/keys with the key of alice, who is in sales, is served without the key',
  async () => {
    const echo = await askEcho('/keys/x', { headers: { authorization: 'Bearer k-alice' } })
    expect(echo.name).toBe('blue')
    expect(echo.headers).not.toHaveProperty('authorization')
  },
)

const admins = [
  // method   headers                   status
  ['GET', { 'x-role': 'admin' }, 200],
  ['POST', { 'x-role': 'admin' }, 200],
  ['GET', { 'x-role': 'guest' }, 403],
  ['GET', {}, 403],
  ['DELETE', { 'x-role': 'admin' }, 403],
] as const

for (const [method, headers, status] of admins) {
  verifies(
    [
      'traffic.authorization/merges',
      'authorization/action-values',
      'authorization/require-all',
      'authorization/deny-any',
      'authorization/failure-no-match',
    ],
    `${method} /admins ${JSON.stringify(headers)} is answered ${status}`,
    async () => {
      const answer = await ask('/admins', { method, headers })
      expect(answer.status).toBe(status)
      if (status === 403) expect(answer.text).toBe('authorization failed')
    },
  )
}

const greetings = [
  // headers              body
  [{ 'x-name': 'Ada' }, 'hello Ada\n'],
  [{}, 'hello stranger\n'],
  [{ 'x-greeting': 'planted' }, 'hello stranger\n'],
] as const

for (const [headers, body] of greetings) {
  verifies(
    [
      'traffic.transformation/set',
      'traffic.transformation/remove',
      'traffic.transformation/body',
      'policy/merge-not-deep',
    ],
    `/greeting ${JSON.stringify(headers)} answers ${JSON.stringify(body)}`,
    async () => {
      const answer = await ask('/greeting', { headers })
      expect([answer.status, answer.text]).toEqual([200, body])
      expect(answer.headers.get('content-type')).toBe('text/plain; charset=utf-8')
      expect(answer.headers.get('x-policy')).toBe('gateway')
      expect(answer.headers.get('x-asked')).toBeNull()
    },
  )
}

verifies(
  ['traffic.directResponse/status', 'traffic.directResponse/body', 'traffic.directResponse/headers'],
  '/teapot is answered by the gateway itself',
  async () => {
    const answer = await ask('/teapot')
    expect([answer.status, answer.text]).toEqual([418, 'short and stout\n'])
    expect(answer.headers.get('content-type')).toBe('text/plain; charset=utf-8')
    expect(answer.headers.get('x-kind')).toBe('teapot, asked by GET')
    expect(answer.headers.get('x-policy')).toBe('gateway')
  },
)

verifies(
  ['service/metrics', 'frontend.metrics/per-request', 'policy/frontend-target-gateway'],
  'the metrics carry the label of the policy',
  async () => {
    await ask('/measured', { headers: { 'x-tenant': 'acme' } })
    const scrape = async () => (await fetch(quickstart.metricsUrl)).text()
    await expect.poll(scrape).toMatch(/^gatewright_requests_total\{[^}]*\btenant="acme"[^}]*\} 1$/m)
    await expect.poll(scrape).toMatch(/^gatewright_requests_total\{[^}]*\btenant="none"/m)
  },
)

test('/members requires a token of the identity provider, and tells the backend who asks', async () => {
  const refused = await ask('/members')
  expect([refused.status, refused.headers.get('www-authenticate')]).toEqual([401, 'Bearer'])
  const fields = { grant_type: 'password', client_id: 'quickstart', username: 'alice', password: 'alice' }
  const path = '/realms/quickstart/protocol/openid-connect/token'
  const response = await fetch(`${quickstart.upstreamUrl('identity')}${path}`, {
    method: 'POST',
    body: new URLSearchParams(fields),
  })
  const { access_token: token } = (await response.json()) as { access_token: string }
  const { headers } = await askEcho('/members', { headers: { authorization: `Bearer ${token}` } })
  expect([headers['x-user'], headers.authorization]).toEqual(['alice', undefined])
})
