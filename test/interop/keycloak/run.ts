import { execFile } from 'node:child_process'
import { mkdtempSync, rmSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { promisify } from 'node:util'
import { startWeather } from '#examples/upstreams/mcp.ts'
import { callsTo } from '#idp/setup/idp-call.ts'
import type { SetupResult } from '#idp/setup/set-up.ts'
import { eventually } from '#test/support/eventually.ts'
import { startGatewayProcess } from '#test/support/gateway-process.ts'
import { Agent, REDIRECT, toolsAfterSignIn } from '#test/support/mcp-agent.ts'
import { createObjectsFolder } from '#test/support/objects-folder.ts'
import { askWith, mcpObjects, protectedObjects } from '#test/support/provider-gateway.ts'
import { signInOnPages } from '#test/support/sign-in-form.ts'
import { type Part, runParts } from '../run-parts.ts'
import { ADMIN, type Keycloak, startKeycloak } from './keycloak.ts'

const GATEWRIGHT = join(import.meta.dirname, '..', '..', '..', 'bin', 'gatewright')
const REALM = 'shop'
const USERS = ['ann:ann-password:makers', 'ben:ben-password:sellers']

interface Printed extends Omit<SetupResult, 'users'> {
  readonly ok: boolean
  readonly steps: readonly { readonly step: number; readonly outcome: string }[]
  readonly users: readonly { readonly username: string; readonly password: string; readonly group: string }[]
}

async function setup({ url }: Keycloak, ...more: readonly string[]): Promise<Printed> {
  const words = ['idp', 'setup', '--url', url.href, '--realm', REALM, '-o', 'json', ...more]
  const users = USERS.flatMap((user) => ['--user', user])
  const environment = { ...process.env, GATEWRIGHT_IDP_ADMIN_PASSWORD: ADMIN.password }
  const { stdout } = await promisify(execFile)(GATEWRIGHT, [...words, ...users], { env: environment })
  return JSON.parse(stdout)
}

/** A token of a user. @param client with its secret */
async function tokenOf({ url }: Keycloak, client: Printed['client'], user: string, realm = REALM): Promise<string> {
  const [username = '', password = ''] = user.split(':')
  const form = { grant_type: 'password', client_id: client.clientId, client_secret: client.secret, username, password }
  const path = `/realms/${realm}/protocol/openid-connect/token`
  const { json } = await callsTo(url)({ method: 'POST', path, form })
  return (json as { access_token: string }).access_token
}

/** All steps against Keycloak, twice; then a gateway with the printed objects. */
const checkSetup: Part = async (transcript, stops) => {
  const keycloak = await startKeycloak(stops)
  await keycloak.admin('POST', '/admin/realms', { realm: REALM, enabled: true })
  const first = await setup(keycloak)
  const outcomes = ({ steps }: Printed) => steps.map(({ step, outcome }) => `${step} ${outcome}`)
  const numbers = [3, 4, 5, 6, 7, 8, 8, 9, 10, 11]
  transcript.check(
    'every step is done',
    outcomes(first),
    numbers.map((step) => `${step} done`),
  )
  const same = numbers.map((step) => `${step} ${step >= 4 && step <= 9 ? 'unchanged' : 'done'}`)
  const second = await setup(keycloak)
  transcript.check('a second run changes nothing', outcomes(second), same)
  transcript.check('a second run prints the same', { ...second, steps: [] }, { ...first, steps: [] })
  const users = (await keycloak.admin('GET', `/admin/realms/${REALM}/users`)) as unknown[]
  transcript.check('nothing is doubled', users.length, 2)

  const result = { ...first, users: first.users.map((user) => ({ ...user, isPasswordGenerated: false })) }
  const { port, files } = await protectedObjects(result, keycloak.url)
  const weather = await startWeather({ port: 0 })
  stops.defer(() => weather.close())
  const folder = await createObjectsFolder({ ...files, 'mcp.yaml': mcpObjects(result, weather.port) })
  stops.defer(() => folder.remove())
  const state = mkdtempSync(join(tmpdir(), 'gatewright-keycloak-'))
  stops.defer(() => rmSync(state, { recursive: true, force: true }))
  stops.use(await startGatewayProcess({ files: [folder.path], workers: 1, stateFolder: state }))
  const token = await tokenOf(keycloak, first.client, USERS[0]!)
  transcript.check('a token of a user passes', await askWith(port, token), 'in')
  transcript.check('no token is refused', await askWith(port, undefined), '401')

  const [{ username, password }] = result.users as [SetupResult['users'][number]]
  for (const [path, server] of Object.entries({ mcp: 'at Keycloak', 'mcp-two': 'through the gateway' })) {
    const agent = new Agent((url) => signInOnPages(url, REDIRECT, { username, password }))
    const tools = await toolsAfterSignIn(new URL(`http://127.0.0.1:${port}/${path}`), agent)
    transcript.check(
      `a client of MCP registers itself ${server}, and its user signs in`,
      tools.includes('forecast'),
      true,
    )
  }

  const provider = { name: 'new-keys', providerId: 'rsa-generated', providerType: 'org.keycloak.keys.KeyProvider' }
  const { id } = (await keycloak.admin('GET', `/admin/realms/${REALM}`)) as { id: string }
  const config = { priority: ['200'], enabled: ['true'], active: ['true'] }
  await keycloak.admin('POST', `/admin/realms/${REALM}/components`, { ...provider, parentId: id, config })
  const rotated = await tokenOf(keycloak, first.client, USERS[0]!)
  const kidOf = (text: string) => JSON.parse(Buffer.from(text.split('.')[0]!, 'base64url').toString()).kid
  transcript.check('the key was rotated', kidOf(rotated) === kidOf(token), false)
  const answers = await Promise.all([rotated, token, rotated].map((one) => askWith(port, one)))
  transcript.check('the rotation is followed without a failed request', answers, ['in', 'in', 'in'])

  const other = { uuid: '', clientId: 'other', secret: 'other-secret' }
  await keycloak.admin('POST', `/admin/realms/${REALM}/clients`, {
    clientId: other.clientId,
    secret: other.secret,
    directAccessGrantsEnabled: true,
    fullScopeAllowed: false,
  })
  const elsewhere = await tokenOf(keycloak, other, USERS[0]!)
  transcript.check('a token for another audience is refused', await askWith(port, elsewhere), '401')
  const master = { uuid: '', clientId: 'admin-cli', secret: '' }
  const ofMaster = await tokenOf(keycloak, master, `${ADMIN.username}:${ADMIN.password}`, 'master')
  transcript.check('a token of another realm is refused', await askWith(port, ofMaster), '401')
  await keycloak.admin('PUT', `/admin/realms/${REALM}`, { accessTokenLifespan: 1 })
  const brief = await tokenOf(keycloak, first.client, USERS[0]!)
  transcript.check('a token passes before its end', await askWith(port, brief), 'in')
  const refusal = async () => ((await askWith(port, brief)) === '401' ? '401' : undefined)
  // The gateway allows clocks to differ by 60 seconds.
  transcript.check('an expired token is refused', await eventually('it is refused', refusal, 90_000), '401')
}

await runParts('interop:keycloak', { setup: checkSetup })
