import { importPKCS8, SignJWT } from 'jose'
import { afterAll, beforeAll, expect, test } from 'vitest'
import { startWeather } from '#examples/upstreams/mcp.ts'
import { setupOptions, startTestProvider } from '#idp/provider/testing.ts'
import { type SetupResult, setUp } from '#idp/setup/set-up.ts'
import { startGateway } from '#test/support/gateway.ts'
import { Agent, REDIRECT, toolsAfterSignIn } from '#test/support/mcp-agent.ts'
import { createObjectsFolder } from '#test/support/objects-folder.ts'
import { askWith, mcpObjects, protectedObjects } from '#test/support/provider-gateway.ts'
import { signInOnPages } from '#test/support/sign-in-form.ts'
import { verifies } from '#test/support/verifies.ts'

const stops = new AsyncDisposableStack()
afterAll(() => stops.disposeAsync())

let provider: Awaited<ReturnType<typeof startTestProvider>>
let result: SetupResult
let port: number

beforeAll(async () => {
  provider = await startTestProvider()
  stops.defer(() => provider.close())
  result = await setUp(setupOptions(provider.url), provider.send, () => {})
  const objects = await protectedObjects(result, provider.url)
  port = objects.port
  const weather = await startWeather({ port: 0 })
  stops.defer(() => weather.close())
  const files = { ...objects.files, 'mcp.yaml': mcpObjects(result, weather.port) }
  const folder = await createObjectsFolder(files)
  stops.defer(() => folder.remove())
  const gateway = await startGateway({ files: [folder.path], workers: 1 })
  stops.defer(async () => void (await gateway.close()))
}, 60_000)

async function tokenOf(username: string, password: string): Promise<string> {
  const { clientId, secret } = result.client
  const form = { grant_type: 'password', client_id: clientId, client_secret: secret, username, password }
  const path = '/realms/shop/protocol/openid-connect/token'
  const { json } = await provider.send({ method: 'POST', path, form })
  return (json as { access_token: string }).access_token
}

/** A token of the provider with other claims. */
async function forged(claims: object, realm = 'shop'): Promise<string> {
  const [key] = provider.state.realm(realm)!.keys
  const pem = key!.privateKey.export({ format: 'pem', type: 'pkcs8' }) as string
  const now = Math.floor(Date.now() / 1000)
  return new SignJWT({ iss: result.issuer, aud: 'account', iat: now, exp: now + 300, ...claims })
    .setProtectedHeader({ alg: 'RS256', kid: key!.kid })
    .sign(await importPKCS8(pem, 'RS256'))
}

// First: unknown keys of tokens cause one fetch in 10 seconds.
test('the rotation of keys is followed without a failed request', async () => {
  const [{ username, password }] = result.users as [SetupResult['users'][number]]
  const before = await tokenOf(username, password)
  const admin = await provider.send({
    method: 'POST',
    path: '/realms/master/protocol/openid-connect/token',
    form: { client_id: 'admin-cli', grant_type: 'password', ...setupOptions(provider.url).admin },
  })
  const token = (admin.json as { access_token: string }).access_token
  const json = { providerType: 'org.keycloak.keys.KeyProvider', providerId: 'rsa-generated' }
  await provider.send({ method: 'POST', path: '/admin/realms/shop/components', token, json })
  const after = await tokenOf(username, password)
  const answers = await Promise.all([after, before, after, before].map((one) => askWith(port, one)))
  expect(answers).toEqual(['in', 'in', 'in', 'in'])
})

verifies(
  ['idp/step-11-jwt-provider', 'idp/procedure'],
  'the printed objects let tokens of the users pass, and no others',
  async () => {
    for (const { username, password } of result.users) {
      expect(await askWith(port, await tokenOf(username, password))).toBe('in')
    }
    expect(await askWith(port, await forged({}))).toBe('in')
    const past = Math.floor(Date.now() / 1000) - 600
    const refused = [
      undefined,
      'x',
      await forged({ aud: 'other' }),
      await forged({ iat: past, exp: past + 1 }),
      await forged({ iss: result.issuer.replace('shop', 'master') }, 'master'),
      await forged({}, 'master'),
    ]
    for (const token of refused) expect(await askWith(port, token)).toBe('401')
  },
)

test.each([
  ['at the provider', 'mcp', true],
  ['through the gateway, which stands in for it', 'mcp-two', false],
])(
  'a client of MCP registers itself %s, and its user signs in on the pages of the provider',
  async (_, path, hasIssuer) => {
    const [{ username, password }] = result.users as [SetupResult['users'][number]]
    let answer = new URLSearchParams()
    const agent = new Agent(async (url) => {
      answer = await signInOnPages(url, REDIRECT, { username, password })
      return answer
    })
    expect(await toolsAfterSignIn(new URL(`http://127.0.0.1:${port}/${path}`), agent)).toContain('forecast')
    // Official clients compare it with the issuer of the metadata.
    expect(answer.get('iss')).toBe(hasIssuer ? result.issuer : null)
  },
)
