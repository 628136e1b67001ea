import { createHash, randomUUID } from 'node:crypto'
import { authenticatedClient } from '../client-authentication.ts'
import type { IdpReply, IdpRequest } from '../http/idp-request.ts'
import { IdpError } from '../idp-error.ts'
import { issuerOf, type ProviderContext, type Refresh, SESSION_SECONDS, type Session } from '../provider-context.ts'
import type { Client, Realm, User } from '../realm.ts'
import { signInUser } from '../sign-in-user.ts'
import { accessToken, type Grant, idToken, seconds, TOKEN_SECONDS } from '../tokens.ts'

/** The token endpoint (RFC 6749, 3.2). @throws IdpError */
export async function token(context: ProviderContext, request: IdpRequest): Promise<IdpReply> {
  const realm = context.realmOf(request)
  const repeated = repeatedName(request.form)
  if (repeated !== undefined) throw IdpError.oauth(400, 'invalid_request', `duplicated parameter: ${repeated}`)
  const client = authenticatedClient(realm, request)
  const kind = request.form.get('grant_type')
  const json = await grant(kind, context, realm, client, request)
  return { status: 200, json }
}

function grant(kind: string | null, context: ProviderContext, realm: Realm, client: Client, request: IdpRequest) {
  switch (kind) {
    case 'password':
      return passwordGrant(context, realm, client, request)
    case 'client_credentials':
      return clientGrant(realm, client, request)
    case 'authorization_code':
      return codeGrant(context, realm, client, request)
    case 'refresh_token':
      return refreshGrant(context, realm, client, request)
    default:
      throw IdpError.oauth(400, 'unsupported_grant_type', 'Unsupported grant_type')
  }
}

/** Parameters must not be repeated (RFC 6749, 3.1 and 3.2). @returns the name of one that is; `resource` may be (RFC 8707) */
export function repeatedName(fields: URLSearchParams): string | undefined {
  const names = new Set<string>()
  for (const name of fields.keys()) {
    if (names.has(name) && name !== 'resource') return name
    names.add(name)
  }
  return undefined
}

async function passwordGrant(context: ProviderContext, realm: Realm, client: Client, request: IdpRequest) {
  if (!client.directAccessGrantsEnabled) {
    throw IdpError.oauth(400, 'unauthorized_client', 'Client not allowed for direct access grants')
  }
  const { form } = request
  const signIn = await signInUser(context, realm, form.get('username') ?? '', form.get('password') ?? '')
  if ('refused' in signIn) throw IdpError.oauth(401, 'invalid_grant', 'Invalid user credentials')
  const session = newSession(realm, signIn.user)
  return userTokens(
    context,
    grantOf(request, realm, client, signIn.user, session, scopesIn(form.get('scope'))),
    session,
  )
}

async function clientGrant(realm: Realm, client: Client, request: IdpRequest) {
  if (!client.serviceAccountsEnabled || client.secret === undefined) {
    throw IdpError.oauth(401, 'unauthorized_client', 'Client not enabled to retrieve service account')
  }
  const scopes = scopesIn(request.form.get('scope'))
  const issuer = issuerOf(request, realm.name)
  const access = await accessToken({ realm, issuer, client, user: undefined, scopes, sessionId: randomUUID() })
  return { access_token: access, expires_in: TOKEN_SECONDS, token_type: 'Bearer', scope: scopes.join(' ') }
}

async function codeGrant(context: ProviderContext, realm: Realm, client: Client, request: IdpRequest) {
  const { form } = request
  const invalid = IdpError.oauth(400, 'invalid_grant', 'Code not valid')
  const code = form.get('code') ?? undefined
  const copied = context.codes.taken(code)
  // Somebody else has the tokens of this code (RFC 6749, 4.1.2).
  if (copied !== undefined) context.endSession(copied.session.id)
  const issued = context.codes.take(code)
  if (issued === undefined) throw invalid
  const { wish, session } = issued
  const isSame =
    wish.realm === realm.name && wish.clientId === client.id && wish.redirectUri === (form.get('redirect_uri') ?? '')
  if (!isSame || !isVerified(wish.challenge, form.get('code_verifier'))) throw invalid
  const user = activeUser(realm, session)
  if (user === undefined) throw invalid
  return userTokens(context, grantOf(request, realm, client, user, session, wish.scopes, wish.nonce), session)
}

/** PKCE (RFC 7636, 4.6). */
function isVerified(challenge: string | undefined, verifier: string | null): boolean {
  if (challenge === undefined) return verifier === null
  return verifier !== null && createHash('sha256').update(verifier).digest('base64url') === challenge
}

async function refreshGrant(context: ProviderContext, realm: Realm, client: Client, request: IdpRequest) {
  const invalid = IdpError.oauth(400, 'invalid_grant', 'Token is not active')
  const refreshToken = request.form.get('refresh_token') ?? undefined
  const copied = context.refreshTokens.taken(refreshToken)
  // One of the two who have used the token has stolen it (RFC 9700, 4.14.2).
  if (copied !== undefined) context.endSession(copied.session.id)
  const refresh: Refresh | undefined = context.refreshTokens.take(refreshToken)
  if (refresh === undefined || refresh.clientId !== client.id || refresh.session.realm !== realm.name) throw invalid
  const user = activeUser(realm, refresh.session)
  if (user === undefined) throw invalid
  return userTokens(context, grantOf(request, realm, client, user, refresh.session, refresh.scopes), refresh.session)
}

function activeUser({ users }: Realm, { userId }: Session): User | undefined {
  const user = users.get(userId)
  return user?.enabled === true ? user : undefined
}

function grantOf(
  request: IdpRequest,
  realm: Realm,
  client: Client,
  user: User,
  { id, authTime }: Session,
  scopes: readonly string[],
  nonce?: string,
): Grant {
  return { realm, issuer: issuerOf(request, realm.name), client, user, scopes, sessionId: id, nonce, authTime }
}

export function newSession({ name }: Realm, { id }: User): Session {
  return { id: randomUUID(), realm: name, userId: id, authTime: seconds() }
}

async function userTokens({ refreshTokens }: ProviderContext, grant: Grant, session: Session) {
  const { client, scopes } = grant
  return {
    access_token: await accessToken(grant),
    expires_in: TOKEN_SECONDS,
    refresh_expires_in: SESSION_SECONDS,
    refresh_token: refreshTokens.put({ session, clientId: client.id, scopes }),
    token_type: 'Bearer',
    ...(scopes.includes('openid') ? { id_token: await idToken(grant) } : {}),
    session_state: session.id,
    scope: scopes.join(' '),
  }
}

/** The scopes that are asked for, and those that every token has. */
export function scopesIn(text: string | null): readonly string[] {
  const asked = (text ?? '').split(' ').filter(Boolean)
  return [...new Set([...asked.filter((scope) => scope === 'openid'), 'profile', 'email'])]
}
