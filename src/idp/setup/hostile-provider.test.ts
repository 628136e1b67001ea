import { createServer, type RequestListener } from 'node:http'
import { type AddressInfo, createServer as createTcpServer, type Server } from 'node:net'
import { afterEach, describe, expect, test } from 'vitest'
import { sampleSize } from '#test/support/sample-size.ts'
import { setupOptions, startTestProvider } from '../provider/testing.ts'
import { CallFailed, callsTo, type IdpAnswer, type IdpCall, type SendCall } from './idp-call.ts'
import { SentSecrets } from './sent-secrets.ts'
import { setUp } from './set-up.ts'
import { StepFailure } from './step-failure.ts'

const stops: (() => void)[] = []
afterEach(() => {
  for (const stop of stops.splice(0)) stop()
})

async function serve(server: Server): Promise<URL> {
  await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve))
  stops.push(() => server.close())
  return new URL(`http://127.0.0.1:${(server.address() as AddressInfo).port}`)
}

async function answering(listener: RequestListener): Promise<URL> {
  const server = createServer(listener)
  stops.push(() => server.closeAllConnections())
  return serve(server)
}

const CALL: IdpCall = { method: 'GET', path: '/a', token: 'secret-token' }
const failureOf = (of: Promise<unknown>) =>
  of.then(
    () => expect.unreachable(),
    (error: unknown) => error as Error,
  )

describe('answers', () => {
  test('redirects are not followed: the token stays here', async () => {
    const seen: (string | undefined)[] = []
    const other = await answering((request, response) => {
      seen.push(request.headers.authorization)
      response.end('{}')
    })
    for (const status of [301, 302, 303, 307, 308]) {
      const url = await answering((_, response) => response.writeHead(status, { location: other.href }).end())
      expect(await callsTo(url)(CALL)).toEqual({ status, location: other.href, json: undefined })
      const failure = await failureOf(setUp(setupOptions(url), callsTo(url), () => {}))
      expect(failure).toMatchObject({
        step: 3,
        answer: `status ${status}: a redirect to ${other.href}`,
        advice: expect.stringContaining('--url'),
      })
    }
    expect(seen).toEqual([])
  })

  test('endless answers end', async () => {
    const url = await answering((_, response) => {
      response.writeHead(200)
      const more = () => void response.write('x'.repeat(65_536), (error) => error ?? more())
      more()
    })
    expect((await failureOf(callsTo(url)(CALL))).message).toContain('larger than 4194304 bytes')
  })

  test('what is no HTTP, and a connection that ends, are one line without the token', async () => {
    const texts = [
      'SSH-2.0-x\r\n',
      '',
      'HTTP/1.1 200 OK\r\nContent-Length: 10\r\n\r\nx',
      `HTTP/1.1 200 ${'x'.repeat(99_999)}`,
    ]
    for (const text of texts) {
      const url = await serve(createTcpServer((socket) => socket.on('error', () => {}).end(text)))
      const failure = await failureOf(callsTo(url)(CALL))
      expect(failure).toBeInstanceOf(CallFailed)
      expect(failure.message).toMatch(/^[^\n]{4,}$/)
      expect(failure.message).not.toContain('secret-token')
    }
  })

  test('a server without TLS, and a host none of whose addresses answers', async () => {
    const { port } = await answering((_, response) => response.end())
    const tls = await failureOf(callsTo(new URL(`https://127.0.0.1:${port}`))(CALL))
    expect(tls.message).toMatch(/^no TLS connection \(ERR_SSL_\w+\): the server may expect http$/)
    const closed = await serve(createTcpServer())
    stops.pop()!()
    const refused = await failureOf(callsTo(new URL(`http://localhost:${closed.port}`))(CALL))
    expect(refused.message).toContain('ECONNREFUSED')
  })
})

describe('a provider that answers nonsense', () => {
  const odd: readonly unknown[] = [
    undefined,
    null,
    7,
    'text',
    [],
    [null],
    [[]],
    {},
    { id: { toString: 1 } },
    [{ id: '..', clientId: 'gateway', username: 'ann', name: 'group', providerId: 'trusted-hosts' }],
    [{ id: '\ud800', clientId: 'gateway', username: 'ann', name: 'group', providerId: 'trusted-hosts' }],
    [{ id: { toString: 1 }, clientId: 'gateway', username: 'ann', name: 'group', providerId: 'trusted-hosts' }],
    { access_token: 'a\r\nb: c', token: 'a\r\nb: c', secret: 'x', id: '../..' },
    { access_token: '\u20ac', token: '\u20ac', error: { toString: 1 }, issuer: 7, jwks_uri: 'x' },
    { access_token: 'a.b', issuer: 'x', jwks_uri: 'javascript:x', value: 'x' },
    { __proto__: null, access_token: `.${Buffer.from('null').toString('base64url')}.` },
  ]
  const calls = [/token$/, /\/shop$/, /clients\?/, /initial-access/, /registrations/, /clients\/[\w-]+$/, /secret/]
  const later = [/models/, /users\?/, /users$/, /components/, /openid-conf/]

  const statuses = [200, 409, 302]
  const places = [...calls, ...later].map((path, at) => [path, at] as const)

  test.each(places)(
    'at %s ends with a failure that names a step, or not at all',
    async (path, at) => {
      const provider = await startTestProvider()
      stops.push(() => void provider.close())
      for (const [i, json] of odd.entries()) {
        const first = (i + at) % statuses.length
        for (const status of [...statuses, ...statuses].slice(first, first + sampleSize(1, statuses.length))) {
          const send: SendCall = async (call): Promise<IdpAnswer> =>
            path.test(call.path) ? { status, json } : provider.send(call)
          const error = await setUp(setupOptions(provider.url), send, () => {}).catch((thrown: unknown) => thrown)
          if (error instanceof Error) expect(error, JSON.stringify(json)).toBeInstanceOf(StepFailure)
        }
      }
    },
    60_000,
  )

  test('secrets that it repeats are hidden, and its errors are one line', async () => {
    const provider = await startTestProvider()
    stops.push(() => void provider.close())
    const sent: IdpCall[] = []
    const send: SendCall = async (call) => {
      sent.push(call)
      if (!call.path.endsWith('/users')) return provider.send(call)
      const { password } = sent[0]!.form!
      const { value } = (call.json as { credentials: { value: string }[] }).credentials[0]!
      const error = `${call.token}\n 9  done\u0007 ${password} ${value}`
      return { status: 400, json: { error, errorMessage: 'x'.repeat(1000), access_token: 'other' } }
    }
    const failure = (await failureOf(setUp(setupOptions(provider.url), send, () => {}))) as StepFailure
    expect(failure.answer).toMatch(/^status 400: \*\*\* 9 done. \*\*\* \*\*\*: x+$/)
    expect(failure.answer.length).toBeLessThan(400)
    expect(failure.message).not.toContain('ann-password')
  })
})

test('short secrets are not hidden, because they are parts of words', () => {
  const secrets = new SentSecrets()
  secrets.add({ method: 'POST', path: '/', token: 'abcdef', form: { password: 'abc', client_secret: 'abcd' } })
  secrets.add({ method: 'POST', path: '/', json: { credentials: [{ value: 'ghij' }], name: 'klmn' } })
  expect(secrets.hideIn('abc abcd abcdef ghij klmn')).toBe('abc *** *** *** klmn')
})

test('users that were created before a failure are in it', async () => {
  const provider = await startTestProvider()
  stops.push(() => void provider.close())
  const send: SendCall = async (call) =>
    /components/.test(call.path) ? { status: 500, json: undefined } : provider.send(call)
  const failure = (await failureOf(setUp(setupOptions(provider.url), send, () => {}))) as StepFailure
  expect([failure.step, failure.createdUsers.map(({ username }) => username)]).toEqual([9, ['ann', 'ben']])
  const again = (await failureOf(setUp(setupOptions(provider.url), send, () => {}))) as StepFailure
  expect(again.createdUsers).toEqual([])
})
