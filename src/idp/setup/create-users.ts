import { isSuccess } from './admin-access.ts'
import { describeAnswer, memberOf } from './answer-text.ts'
import type { IdpCall } from './idp-call.ts'
import type { IdpUser } from './idp-user.ts'
import { GROUP } from './map-group.ts'
import { pathId } from './path-id.ts'
import type { RegisteredClient } from './set-up-client.ts'
import { adminPath, type SetupContext } from './setup-context.ts'
import { StepFailure } from './step-failure.ts'
import { claimsOf } from './token-claims.ts'

/** The users, as they are at the end. */
export interface CreatedUsers {
  /** Those whose password is known. */
  readonly known: readonly IdpUser[]
  /** The claims of the token of one of them; undefined: no password is known. */
  readonly claims: Claims | undefined
}

type Claims = Readonly<Record<string, unknown>>

/**
 * Step 8: users with the attribute `group` and a password. A user that exists is updated where it differs. Each gets a token, which must have
 * the claim `group`: newer servers accept undeclared attributes and discard them (decision A-126).
 *
 * @throws StepFailure
 */
export async function createUsers(
  setup: SetupContext,
  client: RegisteredClient,
  users: readonly IdpUser[],
): Promise<CreatedUsers> {
  const known: IdpUser[] = []
  let claims: CreatedUsers['claims']
  for (const user of users) {
    const written = await writeUser(setup, user)
    if (user.isPasswordGenerated && written !== 'created') {
      const detail = `${user.username}, group ${user.group}; the password is that of the first run`
      setup.report(8, written === 'unchanged' ? 'unchanged' : 'done', detail)
      continue
    }
    known.push(user)
    const first = await signIn(setup, client, user)
    if (first === undefined) await setPassword(setup, user)
    claims = await claimsWithGroup(setup, client, user, first ?? (await tokenOf(setup, client, user)))
    const outcome = written === 'unchanged' && first === claims ? 'unchanged' : 'done'
    setup.report(8, outcome, `${user.username}, group ${user.group}`)
  }
  return { known, claims }
}

/** @param first the claims of the user's first token @throws StepFailure */
async function claimsWithGroup(setup: SetupContext, client: RegisteredClient, user: IdpUser, first: Claims) {
  if (first[GROUP] === user.group) return first
  await keepAttributes(setup)
  await writeUser(setup, user)
  const second = await tokenOf(setup, client, user)
  if (second[GROUP] === user.group) return second
  throw missingClaim(setup.realm, user)
}

function representation({ username, group }: IdpUser) {
  const profile = { email: `${username}@example.com`, firstName: username, lastName: username, enabled: true }
  return { username, ...profile, attributes: { [GROUP]: group } }
}

async function writeUser(setup: SetupContext, user: IdpUser): Promise<'created' | 'changed' | 'unchanged'> {
  const { access, realm } = setup
  const path = `${adminPath(realm)}/users`
  const found = await findUser(setup, user.username)
  const wanted = representation(user)
  if (found === undefined) {
    const credentials = [{ type: 'password', value: user.password, temporary: false }]
    const { status } = await access.call(8, { method: 'POST', path, json: { ...wanted, credentials } }, [409])
    if (status === 409) throw nameInUse(path, user)
    setup.created.push(user)
    return 'created'
  }
  const isSame =
    memberOf(found, 'enabled') === true && firstOf(memberOf(memberOf(found, 'attributes'), GROUP)) === user.group
  if (isSame) return 'unchanged'
  const id = pathId(8, { method: 'GET', path }, found)
  await access.call(8, {
    method: 'PUT',
    path: `${path}/${id}`,
    json: { ...(found as object), ...changes(found, user) },
  })
  return 'changed'
}

/** Other attributes of the user stay. */
function changes(found: unknown, { group }: IdpUser) {
  return { enabled: true, attributes: { ...(memberOf(found, 'attributes') as object | undefined), [GROUP]: [group] } }
}

/** Attributes are lists of texts. */
function firstOf(value: unknown): unknown {
  return Array.isArray(value) ? value[0] : value
}

export async function findUser({ access, realm }: SetupContext, username: string): Promise<unknown> {
  const query = `username=${encodeURIComponent(username)}&exact=true`
  const { json } = await access.call(8, { method: 'GET', path: `${adminPath(realm)}/users?${query}` })
  return Array.isArray(json) ? json.find((one) => memberOf(one, 'username') === username.toLowerCase()) : undefined
}

async function setPassword(setup: SetupContext, { username, password }: IdpUser): Promise<void> {
  const { access, realm } = setup
  const found = await findUser(setup, username)
  const id = pathId(8, { method: 'GET', path: `${adminPath(realm)}/users` }, found)
  const json = { type: 'password', value: password, temporary: false }
  await access.call(8, { method: 'PUT', path: `${adminPath(realm)}/users/${id}/reset-password`, json })
}

function tokenCall(realm: string, client: RegisteredClient, { username, password }: IdpUser): IdpCall {
  const form = {
    grant_type: 'password',
    client_id: client.clientId,
    client_secret: client.secret,
    username,
    password,
    scope: 'openid',
  }
  return { method: 'POST', path: `/realms/${encodeURIComponent(realm)}/protocol/openid-connect/token`, form }
}

/** @returns the claims of the access token; undefined: the provider refuses the password */
async function signIn({ access, realm }: SetupContext, client: RegisteredClient, user: IdpUser) {
  const answer = await access.ask(8, tokenCall(realm, client, user))
  return isSuccess(answer) ? claimsOf(memberOf(answer.json, 'access_token')) : undefined
}

async function tokenOf({ access, realm }: SetupContext, client: RegisteredClient, user: IdpUser) {
  const call = tokenCall(realm, client, user)
  const answer = await access.ask(8, call)
  if (isSuccess(answer)) return claimsOf(memberOf(answer.json, 'access_token'))
  const advice = `${user.username} cannot sign in: check the required actions and the password policy of the realm`
  throw new StepFailure(8, call, describeAnswer(answer), advice)
}

/** Lets users have attributes that the realm does not declare. */
async function keepAttributes({ access, realm }: SetupContext): Promise<void> {
  const path = `${adminPath(realm)}/users/profile`
  const { status, json } = await access.call(8, { method: 'GET', path }, [404])
  if (status === 404) return
  const profile = { ...(json as object), unmanagedAttributePolicy: 'ENABLED' }
  await access.call(8, { method: 'PUT', path, json: profile })
}

function missingClaim(realm: string, { username }: IdpUser): StepFailure {
  const call = { method: 'GET', path: `${adminPath(realm)}/users?username=${encodeURIComponent(username)}` } as const
  const advice = 'declare the attribute group in the user profile of the realm, or enable unmanaged attributes'
  return new StepFailure(8, call, `the token of ${username} has no claim group`, advice)
}

function nameInUse(path: string, { username }: IdpUser): StepFailure {
  const advice = `another user has the name or the e-mail address of ${username}: choose another name`
  return new StepFailure(8, { method: 'POST', path }, 'status 409', advice)
}
