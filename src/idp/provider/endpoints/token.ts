import { createHash, randomUUID, timingSafeEqual } from 'node:crypto'
import type { IdpReply, IdpRequest } from '../http/idp-request.ts'
import { IdpError } from '../idp-error.ts'
import { issuerOf, type ProviderContext, type Refresh, SESSION_SECONDS, type Session } from '../provider-context.ts'
import { type Client, findClient, type Realm, type User } from '../realm.ts'
import { signInUser } from '../sign-in-user.ts'
import { accessToken, type Grant, idToken, seconds, TOKEN_SECONDS } from '../tokens.ts'

/** The token endpoint (RFC 6749, 3.2). @throws IdpError */
export async function token(context: ProviderContext, request: IdpRequest): Promise<IdpReply> {
  const realm = context.realmOf(request)
  const client = authenticated(realm, request)
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

/** The client of a request, by its secret in the form or the header (RFC 6749, 2.3.1); a public one names itself. */
function authenticated(realm: Realm, { form, authorization }: IdpRequest): Client {
  const basic = basicCredentials(authorization)
  const id = basic?.id ?? form.get('client_id')
  const secret = basic?.secret ?? form.get('client_secret')
  const client = id === null ? undefined : findClient(realm, id)
  if (client === undefined || !client.enabled) {
    throw IdpError.oauth(401, 'invalid_client', 'Invalid client or Invalid client credentials')
  }
  if (client.secret !== undefined && !sameText(client.secret, secret ?? '')) {
    throw IdpError.oauth(401, 'unauthorized_client', 'Invalid client or Invalid client credentials')
  }
  return client
}

function basicCredentials(authorization = '') {
  const encoded = /^basic +(?<value>\S+) *$/i.exec(authorization)?.groups?.value
  if (encoded === undefined) return undefined
  const text = Buffer.from(encoded, 'base64').toString()
  const mark = text.indexOf(':')
  try {
    return { id: decodeURIComponent(text.slice(0, mark)), secret: decodeURIComponent(text.slice(mark + 1)) }
  } catch {
    return undefined
  }
}

function sameText(one: string, other: string): boolean {
  const digest = (text: string) => createHash('sha256').update(text).digest()
  return timingSafeEqual(digest(one), digest(other))
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
  const issued = context.codes.take(form.get('code') ?? undefined)
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
  const refresh: Refresh | undefined = context.refreshTokens.take(request.form.get('refresh_token') ?? undefined)
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
