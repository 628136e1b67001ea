import { isDeepStrictEqual } from 'node:util'
import { isSuccess, isToken } from './admin-access.ts'
import { describeAnswer, memberOf } from './answer-text.ts'
import type { IdpCall } from './idp-call.ts'
import { pathId } from './path-id.ts'
import { adminPath, type SetupContext } from './setup-context.ts'
import { StepFailure } from './step-failure.ts'

/** A registered client. `uuid` identifies it in paths of the admin API, `clientId` in requests for tokens. */
export interface RegisteredClient {
  readonly uuid: string
  readonly clientId: string
  readonly secret: string
}

/** What step 6 sets (document 1, 5.8). */
const SETTINGS = {
  serviceAccountsEnabled: true,
  directAccessGrantsEnabled: true,
  authorizationServicesEnabled: true,
  redirectUris: ['*'],
}

/**
 * Steps 4 to 6: registers the client with an initial access token, unless it is registered already, and updates it.
 * @throws StepFailure
 */
export async function setUpClient(setup: SetupContext, clientId: string): Promise<RegisteredClient> {
  const found = await findClient(setup, clientId)
  const client = found === undefined ? await register(setup, clientId) : await known(setup, clientId, found)
  await update(setup, client)
  return client
}

/** @returns the representation of the client; undefined: there is none */
export async function findClient({ access, realm }: SetupContext, clientId: string): Promise<unknown> {
  const path = `${adminPath(realm)}/clients?clientId=${encodeURIComponent(clientId)}`
  const { json } = await access.call(5, { method: 'GET', path })
  return Array.isArray(json) ? json.find((one) => memberOf(one, 'clientId') === clientId) : undefined
}

async function known({ access, realm, report }: SetupContext, clientId: string, found: unknown) {
  const uuid = pathId(5, { method: 'GET', path: `${adminPath(realm)}/clients` }, found)
  report(4, 'unchanged', 'the client is registered already')
  const call: IdpCall = { method: 'GET', path: `${adminPath(realm)}/clients/${uuid}/client-secret` }
  const answer = await access.call(5, call)
  const secret = memberOf(answer.json, 'value')
  if (typeof secret !== 'string') {
    throw new StepFailure(5, call, 'no secret', `${clientId} is a public client: name another one with --client-id`)
  }
  report(5, 'unchanged', clientId)
  return { uuid, clientId, secret }
}

async function register({ access, realm, report }: SetupContext, clientId: string): Promise<RegisteredClient> {
  const asked: IdpCall = {
    method: 'POST',
    path: `${adminPath(realm)}/clients-initial-access`,
    json: { expiration: 0, count: 1 },
  }
  const token = memberOf((await access.call(4, asked)).json, 'token')
  if (!isToken(token)) throw new StepFailure(4, asked, 'no token', 'check --url')
  report(4, 'done')
  const path = `/realms/${encodeURIComponent(realm)}/clients-registrations/default`
  const call: IdpCall = { method: 'POST', path, token, json: { clientId } }
  const answer = await access.ask(5, call)
  const secret = memberOf(answer.json, 'secret')
  if (!isSuccess(answer) || typeof secret !== 'string') {
    throw new StepFailure(5, call, describeAnswer(answer), 'check the client registration policies of the realm')
  }
  const uuid = pathId(5, call, answer.json)
  report(5, 'done', clientId)
  return { uuid, clientId, secret }
}

async function update({ access, realm, report }: SetupContext, { uuid }: RegisteredClient): Promise<void> {
  const path = `${adminPath(realm)}/clients/${uuid}`
  const { json: before } = await access.call(6, { method: 'GET', path })
  const same = Object.entries(SETTINGS).every(([name, value]) => isDeepStrictEqual(memberOf(before, name), value))
  if (same) return report(6, 'unchanged')
  await access.call(6, { method: 'PUT', path, json: SETTINGS })
  report(6, 'done', 'any redirect URI is allowed: for tests only')
}
