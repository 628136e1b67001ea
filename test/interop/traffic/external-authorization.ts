import { join } from 'node:path'
import type { Echo } from '#examples/upstreams/echo.ts'
import { backendYaml, routeYaml } from '../../support/objects-folder.ts'
import { policyYaml } from '../../support/policy-yaml.ts'
import { createSigningKey, keySetOf, signToken } from '../../support/token-issuer.ts'
import { builtGoProgram, startPrintingServer } from '../counterparts.ts'
import { proxyBackend, startFront } from '../front.ts'
import type { Transcript } from '../transcript.ts'

const GO = join(import.meta.dirname, 'go')
const RULES = join(GO, 'authorizer', 'rules.rego')
const ISSUER = 'https://id.test'

/** External authorization by a Go server of the published message types, whose rules the library of Open Policy Agent evaluates. */
export async function checkExternalAuthorization(transcript: Transcript, stops: AsyncDisposableStack): Promise<void> {
  const server = stops.use(await startPrintingServer(builtGoProgram(GO, 'authorizer'), { words: [RULES] }))
  const key = createSigningKey('P-256')
  const jwtAuthentication = { providers: [{ issuer: ISSUER, jwks: { inline: keySetOf(key) } }] }
  const extAuth = { backendRef: proxyBackend('authorizer'), grpc: { contextExtensions: { tenant: 'blue' } } }
  const requestMetadata = {
    'envoy.filters.http.jwt_authn': '{"jwt_payload": {"sub": "zoe", "groups": [request.method]}}',
  }
  const front = await startFront(
    stops,
    backendYaml('authorizer', server.port),
    routeYaml('rego', '/rego', 'echo'),
    policyYaml('rego', 'HTTPRoute', 'rego', {
      traffic: {
        jwtAuthentication,
        extAuth,
        transformation: {
          request: { set: [{ name: 'x-tier', value: 'extauthz.tier + " " + string(extauthz.groups.size())' }] },
        },
      },
    }),
    routeYaml('bodies', '/bodies', 'echo'),
    policyYaml('bodies', 'HTTPRoute', 'bodies', {
      traffic: { extAuth: { ...extAuth, forwardBody: { maxSize: 200 } } },
    }),
    routeYaml('metadata', '/rego/users/zoe', 'echo'),
    policyYaml('metadata', 'HTTPRoute', 'metadata', {
      traffic: { extAuth: { ...extAuth, grpc: { ...extAuth.grpc, requestMetadata } } },
    }),
  )
  const exp = Math.floor(Date.now() / 1000) + 600
  const token = signToken(key, 'ES256', {
    iss: ISSUER,
    sub: 'ann',
    groups: ['a', 'b'],
    exp,
    n: 1.5,
    deep: [{ x: null }],
  })
  const headers = { authorization: `Bearer ${token}`, 'x-secret': 's', 'x-user': 'root' }

  const allowed = await front.ask('/rego/users/ann?page=2', { headers })
  const { headers: seen } = (await allowed.json()) as Echo
  transcript.check('the claims of the token decide', allowed.status, 200)
  transcript.check(
    'headers of the answer reach the backend, removed ones do not',
    [seen['x-user'], seen['x-tenant'], seen['x-secret']],
    ['ann', 'blue', undefined],
  )
  transcript.check('metadata of the answer is in expressions', seen['x-tier'], 'gold 2')
  transcript.check('headers for the client', allowed.headers.get('x-decided-by'), 'rego')

  const denied = await front.ask('/rego/users/bob', { headers })
  transcript.check(
    'a refusal: status, header and body',
    [denied.status, denied.headers.get('x-why'), await denied.text()],
    [403, 'no rule', 'not here\n'],
  )
  const metadata = await front.ask('/rego/users/zoe')
  transcript.check('request metadata of expressions', [metadata.status, await userSeen(metadata)], [200, 'zoe'])

  for (const [amount, expected] of [
    [100, [200, '100']],
    [101, [402, 'too much\n']],
  ] as const) {
    const body = JSON.stringify({ amount, text: 'größer' })
    const response = await front.ask('/bodies', { method: 'POST', body })
    const text = response.status === 200 ? ((await response.json()) as Echo).headers['x-amount'] : await response.text()
    transcript.check(`a body with ${amount}`, [response.status, text], expected)
  }
  const large = await front.ask('/bodies', { method: 'POST', body: 'x'.repeat(300) })
  transcript.check('a body above the limit is refused', large.status, 413)
  const broken = await front.ask('/bodies', { method: 'POST', body: 'not JSON' })
  transcript.check('rules without an answer', [broken.status, await broken.text()], [403, 'not here\n'])

  await server[Symbol.asyncDispose]()
  const gone = await front.ask('/rego/users/ann', { headers })
  transcript.check('without the server', [gone.status, await gone.text()], [403, 'external authorization failed'])
}

async function userSeen(response: Response): Promise<unknown> {
  return response.status === 200 ? ((await response.json()) as Echo).headers['x-user'] : response.text()
}
