import { randomBytes } from 'node:crypto'
import type { IdpReply, IdpRequest } from '../http/idp-request.ts'
import { loginPage, messagePage } from '../http/pages.ts'
import { issuerOf, type ProviderContext, type Session, type SignInWish } from '../provider-context.ts'
import { type Client, EXCLUDE_ISSUER, findClient, type Realm } from '../realm.ts'
import { isAllowed } from '../redirect-uri.ts'
import { signInUser } from '../sign-in-user.ts'
import { seconds } from '../tokens.ts'
import { newSession, repeatedName, scopesIn } from './token.ts'

/** The session of a user in a browser. */
const SESSION_COOKIE = 'idp_session'
/** Binds a sign-in to the browser that began it. */
const BROWSER_COOKIE = 'idp_browser'

/**
 * The authorization endpoint: the authorization code flow (RFC 6749, 4.1) with PKCE, which public clients must use (RFC 9700, 2.1.1).
 * A request whose client or redirect URI is not known is never redirected.
 */
export function authorize(context: ProviderContext, request: IdpRequest): IdpReply {
  const realm = context.realmOf(request)
  const { query } = request
  const client = findClient(realm, query.get('client_id') ?? '')
  const redirectUri = query.get('redirect_uri') ?? ''
  const repeated = repeatedName(query)
  if (repeated === 'client_id' || repeated === 'redirect_uri') return refuse(`Duplicated parameter: ${repeated}`)
  if (client === undefined || !client.enabled) return refuse('Client not found.')
  if (!isAllowed(redirectUri, client, request.origin)) return refuse('Invalid parameter: redirect_uri')
  const wish = wishIn(query, realm, client, redirectUri)
  const problem =
    problemOf(query, client, wish) ?? (repeated && ['invalid_request', `Duplicated parameter: ${repeated}`])
  if (problem !== undefined) {
    return redirect(wish, request, { error: problem[0]!, error_description: problem[1]! })
  }
  const session = sessionOf(context, request, realm)
  const prompts = (query.get('prompt') ?? '').split(' ')
  if (session !== undefined && !prompts.includes('login') && isRecent(session, query.get('max_age'))) {
    return issueCode(context, request, wish, session)
  }
  if (prompts.includes('none')) return redirect(wish, request, { error: 'login_required' })
  return askUser(context, request, wish, client)
}

/** The page on which the user signs in. */
export function askUser(
  context: ProviderContext,
  request: IdpRequest,
  wish: SignInWish,
  client: Client,
  problem?: string,
): IdpReply {
  const known = request.cookies[BROWSER_COOKIE] ?? ''
  const browser = /^[\w-]{22}$/.test(known) ? known : randomBytes(16).toString('base64url')
  const attempt = context.attempts.put({ wish, browser })
  const action = `${issuerOf(request, wish.realm)}/login-actions/authenticate?attempt=${attempt}`
  return {
    status: 200,
    html: loginPage(wish.realm, client.name ?? client.clientId, action, problem),
    headers: { 'set-cookie': cookie(BROWSER_COOKIE, browser, wish.realm, request) },
  }
}

/** The form of that page. */
export async function submitLogin(context: ProviderContext, request: IdpRequest): Promise<IdpReply> {
  const realm = context.realmOf(request)
  const attempt = context.attempts.take(request.query.get('attempt') ?? undefined)
  const client = attempt && realm.clients.get(attempt.wish.clientId)
  if (client === undefined || attempt!.wish.realm !== realm.name) return refuse('The page has expired. Begin again.')
  if (attempt!.browser !== request.cookies[BROWSER_COOKIE]) return refuse('Cookies are needed to sign in. Begin again.')
  const { form } = request
  const signIn = await signInUser(context, realm, form.get('username') ?? '', form.get('password') ?? '')
  if ('refused' in signIn) {
    const problem =
      signIn.refused === 'blocked' ? 'Too many attempts. Wait a minute.' : 'Invalid user name or password.'
    return askUser(context, request, attempt!.wish, client, problem)
  }
  const session = newSession(realm, signIn.user)
  const reply = issueCode(context, request, attempt!.wish, session)
  const kept = cookie(SESSION_COOKIE, context.browsers.put(session), realm.name, request)
  return { ...reply, headers: { ...reply.headers, 'set-cookie': kept } }
}

/** The session of the browser, if its user may still sign in. */
export function sessionOf(context: ProviderContext, { cookies }: IdpRequest, realm: Realm): Session | undefined {
  const session = context.browsers.get(cookies[SESSION_COOKIE])
  return session?.realm === realm.name && realm.users.get(session.userId)?.enabled === true ? session : undefined
}

function wishIn(query: URLSearchParams, { name }: Realm, { id, attributes }: Client, redirectUri: string): SignInWish {
  return {
    realm: name,
    clientId: id,
    redirectUri,
    scopes: scopesIn(query.get('scope')),
    state: query.get('state') ?? undefined,
    nonce: query.get('nonce') ?? undefined,
    challenge: query.get('code_challenge') ?? undefined,
    namesIssuer: attributes?.[EXCLUDE_ISSUER] !== 'true',
  }
}

/** @returns the error of OAuth and its description */
function problemOf(query: URLSearchParams, client: Client, { challenge }: SignInWish): [string, string] | undefined {
  if (query.get('response_type') !== 'code') return ['unsupported_response_type', 'response_type must be code']
  if ((query.get('response_mode') ?? 'query') !== 'query') return ['invalid_request', 'response_mode must be query']
  for (const name of ['request', 'request_uri']) {
    if (query.has(name)) return [`${name}_not_supported`, `${name} is not supported`]
  }
  if (!/^\d{1,10}$/.test(query.get('max_age') ?? '0')) return ['invalid_request', 'max_age must be a number']
  if (!client.standardFlowEnabled) return ['unauthorized_client', 'Client is not allowed to sign users in']
  if (challenge === undefined) {
    return client.secret === undefined ? ['invalid_request', 'Missing parameter: code_challenge'] : undefined
  }
  if (query.get('code_challenge_method') !== 'S256') return ['invalid_request', 'code_challenge_method must be S256']
  return /^[\w-]{43}$/.test(challenge) ? undefined : ['invalid_request', 'Invalid parameter: code_challenge']
}

/** @param maxAge how long ago the user may have signed in, in seconds (OpenID Connect Core 1.0, 3.1.2.1) */
function isRecent({ authTime }: Session, maxAge: string | null): boolean {
  return maxAge === null || seconds() - authTime <= Number(maxAge)
}

function issueCode({ codes }: ProviderContext, request: IdpRequest, wish: SignInWish, session: Session): IdpReply {
  return redirect(wish, request, { code: codes.put({ wish, session }), session_state: session.id })
}

/** Sends the browser back to the client. */
function redirect(wish: SignInWish, request: IdpRequest, answer: Readonly<Record<string, string>>): IdpReply {
  const url = new URL(wish.redirectUri)
  for (const [name, value] of Object.entries(answer)) url.searchParams.set(name, value)
  if (wish.state !== undefined) url.searchParams.set('state', wish.state)
  if (wish.namesIssuer) url.searchParams.set('iss', issuerOf(request, wish.realm))
  return { status: 302, headers: { location: url.href } }
}

function refuse(text: string): IdpReply {
  return { status: 400, html: messagePage('Sign-in is not possible', text) }
}

function cookie(name: string, value: string, realm: string, { origin }: IdpRequest): string {
  const secure = origin.startsWith('https:') ? '; Secure' : ''
  return `${name}=${value}; Path=/realms/${encodeURIComponent(realm)}/; HttpOnly; SameSite=Lax${secure}`
}
