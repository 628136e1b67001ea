import { createHash, randomBytes } from 'node:crypto'
import type { Discovered } from './discover.ts'
import { type LoopbackCallback, openCallback } from './loopback-callback.ts'
import type { Report } from './report.ts'
import { ask, explanationIn, isObject, NoReply, type Reply } from './web.ts'

/** How the doctor gets a token. */
export interface TokenWish {
  readonly clientId: string | undefined
  /** With it, the client has a token of its own, without a user (RFC 6749, 4.4). */
  readonly clientSecret: string | undefined
  /** Undefined: what the server asks for. */
  readonly scope: string | undefined
  /** Of the redirect; 0: any. */
  readonly redirectPort: number
  /** For the user. */
  readonly timeoutMs: number
  /** Shows the user where to sign in. */
  readonly invite: (address: string) => void
}

/** Registers a client, signs in and gets a token. */
export async function obtainToken(
  report: Report,
  discovered: Discovered,
  wish: TokenWish,
): Promise<string | undefined> {
  const { clientId, clientSecret } = wish
  report.hide(clientSecret)
  if (clientId !== undefined && clientSecret !== undefined) {
    report.skip('registration', 'the client is given')
    report.skip('redirect', 'the client has a secret of its own')
    return exchange(report, discovered, {
      grant_type: 'client_credentials',
      client_id: clientId,
      client_secret: clientSecret,
      ...scopeOf(discovered, wish),
    })
  }
  await using callback = await openCallback(wish.redirectPort, wish.timeoutMs)
  const client = clientId ?? (await register(report, discovered, callback.address))
  if (client === undefined) return undefined
  if (clientId !== undefined) report.skip('registration', 'the client is given')
  // The callback must stay open until then.
  return await signIn(report, discovered, wish, callback, client)
}

function scopeOf({ scope: asked }: Discovered, { scope = asked }: TokenWish): { readonly scope?: string } {
  return scope === undefined ? {} : { scope }
}

async function register(report: Report, { server }: Discovered, redirect: string): Promise<string | undefined> {
  if (server.registration === undefined) {
    return report.fail(
      'registration',
      'the authorization server registers no clients',
      'Set clientId, so that the gateway answers registrations with the id of a client that you have registered; or use --client-id.',
    )
  }
  const body = JSON.stringify({
    client_name: 'gatewright mcp doctor',
    redirect_uris: [redirect],
    grant_types: ['authorization_code'],
    response_types: ['code'],
    token_endpoint_auth_method: 'none',
  })
  const reply = await ask(server.registration, {
    method: 'POST',
    headers: { 'content-type': 'application/json' },
    body,
  })
  if (reply instanceof NoReply) return report.fail('registration', reply.why, reply.change)
  const { status, json } = reply
  const {
    client_id: id,
    redirect_uris: redirects,
    client_secret: secret,
    registration_access_token: access,
  } = isObject(json) ? json : {}
  for (const hidden of [secret, access]) if (typeof hidden === 'string') report.hide(hidden)
  if (status < 200 || status > 299 || typeof id !== 'string') {
    return report.fail(
      'registration',
      `${server.registration}: ${status}${explanationIn(reply)}`,
      'Permit anonymous registration at the identity provider, or set clientId.',
    )
  }
  if (Array.isArray(redirects) && !redirects.includes(redirect)) {
    return report.fail(
      'registration',
      `the client is registered without the redirect ${redirect}`,
      'Permit redirects to loopback addresses with any port (RFC 8252, 7.3) at the identity provider.',
    )
  }
  report.ok('registration', `client ${id}`)
  return id
}

async function signIn(
  report: Report,
  discovered: Discovered,
  wish: TokenWish,
  callback: LoopbackCallback,
  client: string,
): Promise<string | undefined> {
  const verifier = randomBytes(32).toString('base64url')
  const state = randomBytes(16).toString('base64url')
  report.hide(verifier)
  const { server, resource } = discovered
  const address = new URL(server.authorization)
  const parameters = {
    response_type: 'code',
    client_id: client,
    redirect_uri: callback.address,
    code_challenge: createHash('sha256').update(verifier).digest('base64url'),
    code_challenge_method: 'S256',
    state,
    resource,
    ...scopeOf(discovered, wish),
  }
  for (const [name, value] of Object.entries(parameters)) address.searchParams.set(name, value)
  const tried = await ask(address)
  if (tried instanceof NoReply) return report.fail('redirect', tried.why, tried.change)
  if (tried.status >= 400) return refuseRedirect(report, tried, callback.address)
  wish.invite(address.href)
  const query = await callback.query
  const code = codeIn(report, query, state, server)
  if (code === undefined) return undefined
  report.ok('redirect', `${callback.address}, with a code`)
  return exchange(report, discovered, {
    grant_type: 'authorization_code',
    code,
    redirect_uri: callback.address,
    client_id: client,
    code_verifier: verifier,
  })
}

function refuseRedirect(report: Report, reply: Reply, redirect: string): undefined {
  return report.fail(
    'redirect',
    `the identity provider refuses the request: ${reply.status}${explanationIn(reply)}`,
    `Usually the redirect ${redirect} or the client is not known there: permit redirects to loopback addresses with any port.`,
  )
}

function codeIn(
  report: Report,
  query: URLSearchParams | undefined,
  state: string,
  { issuer, namesItself }: Discovered['server'],
): string | undefined {
  if (query === undefined) {
    return report.fail(
      'redirect',
      'no redirect came in time',
      'Sign in with the address that was printed. If the browser showed an error, the identity provider refuses the redirect or the scope.',
    )
  }
  const code = query.get('code')
  report.hide(code ?? undefined)
  if (query.get('state') !== state) {
    return report.fail(
      'redirect',
      'the redirect has another state',
      'The identity provider must return state unchanged.',
    )
  }
  const iss = query.get('iss')
  if (iss === null ? namesItself : iss !== issuer) {
    return report.fail(
      'redirect',
      `the redirect is of issuer ${iss ?? 'absent'}, not ${issuer}`,
      'Newer clients refuse it (RFC 9207). Switch off iss in authorization responses at the identity provider, or leave provider unset.',
    )
  }
  if (code !== null) return code
  const description = query.get('error_description')
  const why = [query.get('error') ?? 'no code', description].filter((each) => each !== null).join(', ')
  return report.fail('redirect', `the identity provider refused: ${why}`, changeFor(query.get('error')))
}

function changeFor(error: string | null): string {
  if (error === 'invalid_scope') return 'Define the scopes of scopesSupported at the identity provider, or use --scope.'
  if (error === 'invalid_target') return 'Register the resource as an API at the identity provider.'
  return 'See the log of the identity provider.'
}

async function exchange(
  report: Report,
  { server, resource }: Discovered,
  form: Readonly<Record<string, string>>,
): Promise<string | undefined> {
  const reply = await ask(server.token, {
    method: 'POST',
    headers: { 'content-type': 'application/x-www-form-urlencoded', accept: 'application/json' },
    body: String(new URLSearchParams({ ...form, resource })),
  })
  if (reply instanceof NoReply) return report.fail('token', reply.why, reply.change)
  const { status, json } = reply
  const { access_token: token, token_type: type, refresh_token: refresh, id_token: id } = isObject(json) ? json : {}
  for (const hidden of [token, refresh, id]) if (typeof hidden === 'string') report.hide(hidden)
  if (status !== 200 || typeof token !== 'string') {
    return report.fail('token', `${server.token}: ${status}${explanationIn(reply)}`, TOKEN_CHANGE)
  }
  if (typeof type !== 'string' || type.toLowerCase() !== 'bearer') {
    return report.fail('token', `its type is ${String(type)}, not Bearer`, 'Issue Bearer tokens to this client.')
  }
  report.ok('token', 'Bearer')
  return token
}

const TOKEN_CHANGE =
  'The client must be a public client with PKCE at the identity provider (or one with a secret for client credentials), and may ask for the resource.'
