import { count } from '#base/count.ts'
import { AdminAccess, type AdminCredentials, isSuccess } from './admin-access.ts'
import { describeAnswer, memberOf } from './answer-text.ts'
import { createUsers, findUser } from './create-users.ts'
import type { IdpCall, SendCall } from './idp-call.ts'
import type { IdpUser } from './idp-user.ts'
import { mapGroup } from './map-group.ts'
import { removePolicies } from './remove-policies.ts'
import { SentSecrets } from './sent-secrets.ts'
import { findClient, type RegisteredClient, setUpClient } from './set-up-client.ts'
import { adminPath, type Report, type SetupContext } from './setup-context.ts'
import { StepFailure } from './step-failure.ts'
import { claimsOf } from './token-claims.ts'

export interface SetupOptions {
  /** `{idp_url}` of document 1, 5.8. */
  readonly url: URL
  readonly realm: string
  readonly admin: AdminCredentials
  readonly clientId: string
  readonly users: readonly IdpUser[]
}

/** Characters of an answer that a failure shows. */
const MAX_ANSWER_TEXT = 300

/** What the procedure ends with (document 1, 5.8, step 11). */
export interface SetupResult {
  readonly issuer: string
  /** `jwks.remote.jwksPath` of a JWT provider. */
  readonly jwksPath: string
  /** `aud` of the tokens that the client gets. */
  readonly audiences: readonly string[]
  readonly client: RegisteredClient
  /** Those whose password is known. */
  readonly users: readonly IdpUser[]
}

/**
 * Steps 3 to 11 of the setup of an identity provider (document 1, 5.8). What exists already is updated in place, so running it again changes
 * nothing.
 *
 * @throws StepFailure
 */
export async function setUp(options: SetupOptions, send: SendCall, report: Report): Promise<SetupResult> {
  const secrets = new SentSecrets()
  const access = new AdminAccess((call) => {
    secrets.add(call)
    return send(call)
  }, options.admin)
  const created: IdpUser[] = []
  try {
    return await carryOut({ access, realm: options.realm, report, created }, options)
  } catch (error) {
    if (!(error instanceof StepFailure)) throw error
    // Cut after hiding: a part of a secret would not be found.
    const answer = secrets.hideIn(error.answer).slice(0, MAX_ANSWER_TEXT)
    const failure = new StepFailure(error.step, error, answer, error.advice)
    failure.createdUsers = created
    throw failure
  }
}

async function carryOut(setup: SetupContext, options: SetupOptions): Promise<SetupResult> {
  const { clientId, users } = options
  await setup.access.signIn()
  setup.report(3, 'done')
  await checkRealm(setup)
  const client = await setUpClient(setup, clientId)
  await mapGroup(setup, client.uuid)
  const { known, claims } = await createUsers(setup, client, users)
  await removePolicies(setup)
  await verify(setup, client, users)
  const audiences = audiencesIn(claims ?? (await clientClaims(setup, client)))
  return { ...(await deriveValues(setup, options)), audiences, client, users: known }
}

/** Nothing is changed in a realm that was misspelt. */
async function checkRealm({ access, realm }: SetupContext): Promise<void> {
  const call: IdpCall = { method: 'GET', path: adminPath(realm) }
  const { status } = await access.call(3, call, [404])
  if (status !== 404) return
  throw new StepFailure(3, call, 'status 404', `there is no realm ${realm}: create it, or name another with --realm`)
}

/** Step 10. */
async function verify(setup: SetupContext, { clientId }: RegisteredClient, users: readonly IdpUser[]): Promise<void> {
  const absent = (what: string, path: string) =>
    new StepFailure(
      10,
      { method: 'GET', path: adminPath(setup.realm) + path },
      `${what} does not exist`,
      'run it again',
    )
  for (const { username } of users) {
    if ((await findUser(setup, username)) === undefined) throw absent(`user ${username}`, '/users')
  }
  if ((await findClient(setup, clientId)) === undefined) throw absent(`client ${clientId}`, '/clients')
  setup.report(10, 'done', `${count(users.length, 'user')}, client ${clientId}`)
}

/** Step 11. */
async function deriveValues({ access, realm, report }: SetupContext, { url }: SetupOptions) {
  const root = `/realms/${encodeURIComponent(realm)}`
  const call: IdpCall = { method: 'GET', path: `${root}/.well-known/openid-configuration` }
  const { json } = await access.ask(11, call)
  const [issuer, jwksUri] = [memberOf(json, 'issuer'), memberOf(json, 'jwks_uri')]
  if (typeof issuer !== 'string' || typeof jwksUri !== 'string' || !URL.canParse(jwksUri)) {
    throw new StepFailure(11, call, 'no issuer or no jwks_uri', 'check --url and --realm')
  }
  const expected = `${url.origin}${root}`
  if (issuer !== expected) {
    const advice = `--url must be the address in the issuer, or the public address of the provider must be --url: tokens with another issuer are refused`
    throw new StepFailure(11, call, `the issuer is ${issuer}, not ${expected}`, advice)
  }
  report(11, 'done', issuer)
  return { issuer, jwksPath: new URL(jwksUri).pathname }
}

/** The claims of a token of the client itself, which step 6 permits. */
async function clientClaims({ access, realm }: SetupContext, { clientId, secret }: RegisteredClient) {
  const path = `/realms/${encodeURIComponent(realm)}/protocol/openid-connect/token`
  const form = { grant_type: 'client_credentials', client_id: clientId, client_secret: secret }
  const call: IdpCall = { method: 'POST', path, form }
  const answer = await access.ask(10, call)
  if (isSuccess(answer)) return claimsOf(memberOf(answer.json, 'access_token'))
  throw new StepFailure(10, call, describeAnswer(answer), 'look into the log of the provider')
}

function audiencesIn({ aud }: Readonly<Record<string, unknown>>): readonly string[] {
  const all: readonly unknown[] = Array.isArray(aud) ? aud : [aud]
  return all.filter((one) => typeof one === 'string')
}
