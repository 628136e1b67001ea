import { createHash, randomUUID } from 'node:crypto'
import { createServer, type IncomingMessage, type ServerResponse } from 'node:http'
import type { AddressInfo } from 'node:net'
import { exportJWK, generateKeyPair, SignJWT } from 'jose'

/**
 * A small authorization server: metadata, registration of clients (RFC 7591), authorization code with PKCE, client credentials, the resource
 * of a token (RFC 8707), and keys. It approves everything at once.
 */
export interface OAuthIssuer extends AsyncDisposable {
  readonly issuer: string
  readonly port: number
  /** Method and target of every request so far. */
  readonly requests: readonly string[]
  /** What it does from now on. */
  behaviour: IssuerBehaviour
  sign(claims: Readonly<Record<string, unknown>>): Promise<string>
  /** Signs with another key from now on, and publishes only that one. */
  rotate(): Promise<void>
}

export interface IssuerBehaviour {
  /** Path of the issuer, such as `/realms/tools`. */
  readonly path?: string
  /** The only document that exists. */
  readonly publishes?: 'oauth' | 'openid'
  /** Where clients register; undefined: `/register`. */
  readonly registration?: string | false
  /** Tokens are for the parameter `audience` instead of `resource`, as providers do that do not know RFC 8707. */
  readonly audienceParameter?: true
  /** Members that replace those of the metadata; `ISSUER` is its own address. */
  readonly metadata?: Readonly<Record<string, unknown>>
  /** Answers the metadata in another way. */
  readonly answerMetadata?: (response: ServerResponse) => void
  /** Members that replace those of a registration. */
  readonly registered?: Readonly<Record<string, unknown>>
  readonly refuseRegistration?: true
  /** Refuses the redirect of the client. */
  readonly refuseAuthorization?: string
  /** Claims that replace those of a token. */
  readonly claims?: Readonly<Record<string, unknown>>
  /** Names itself in authorization responses (RFC 9207). */
  readonly namesItself?: true
  /** The name in them, if it is another. */
  readonly issuerInResponse?: string
  readonly refuseToken?: string
}

interface Grant {
  readonly challenge: string
  readonly redirect: string
  readonly audience: string | undefined
  readonly scope: string
}

/** @param wantedPort 0: any */
export async function startOAuthIssuer(behaviour: IssuerBehaviour = {}, wantedPort = 0): Promise<OAuthIssuer> {
  let key = await createKey('key-1')
  const grants = new Map<string, Grant>()
  const clients = new Map<string, readonly string[]>()
  const requests: string[] = []
  const server = createServer((request, response) => {
    requests.push(`${request.method} ${request.url}`)
    answer(request, response).catch((error: unknown) => {
      console.error(error)
      response.destroy()
    })
  })
  const { promise, resolve, reject } = Promise.withResolvers<void>()
  server.once('error', reject)
  server.listen(wantedPort, '127.0.0.1', resolve)
  await promise
  const { port } = server.address() as AddressInfo
  const origin = `http://127.0.0.1:${port}`

  const issuer: OAuthIssuer = {
    get issuer() {
      return origin + (issuer.behaviour.path ?? '')
    },
    port,
    requests,
    behaviour,
    sign: (claims) => sign(claims),
    rotate: async () => {
      key = await createKey(randomUUID())
    },
    [Symbol.asyncDispose]: async () => {
      server.closeAllConnections()
      await new Promise((done) => server.close(done))
    },
  }

  const sign = (claims: Readonly<Record<string, unknown>>) =>
    new SignJWT({ iss: issuer.issuer, sub: 'ann', ...claims })
      .setProtectedHeader({ alg: 'ES256', kid: key.jwk.kid })
      .setIssuedAt()
      .setExpirationTime('10 minutes')
      .sign(key.privateKey)

  async function answer(request: IncomingMessage, response: ServerResponse): Promise<void> {
    const url = new URL(request.url ?? '/', origin)
    const { path = '', publishes, registration = '/register' } = issuer.behaviour
    const body = Buffer.concat((await request.toArray()) as Buffer[]).toString()
    const isOAuth = url.pathname === `/.well-known/oauth-authorization-server${path}` && publishes !== 'openid'
    const isOpenId = url.pathname === `${path}/.well-known/openid-configuration` && publishes !== 'oauth'
    if (isOAuth || isOpenId) return metadata(response)
    switch (url.pathname) {
      case `${path}/keys`:
        return json(response, 200, { keys: [key.jwk] })
      case registration === false ? undefined : registration:
        return register(body, response)
      case `${path}/authorize`:
        return authorize(url, response)
      case `${path}/token`:
        return token(new URLSearchParams(body), request, response)
      default:
        return json(response, 404, { error: 'not_found' })
    }
  }

  function metadata(response: ServerResponse): void {
    const { answerMetadata, metadata: members, registration = '/register', namesItself } = issuer.behaviour
    if (answerMetadata !== undefined) return answerMetadata(response)
    const base = issuer.issuer
    json(response, 200, {
      issuer: base,
      authorization_endpoint: `${base}/authorize`,
      token_endpoint: `${base}/token`,
      jwks_uri: `${base}/keys`,
      ...(registration !== false && { registration_endpoint: origin + registration }),
      response_types_supported: ['code'],
      grant_types_supported: ['authorization_code', 'client_credentials'],
      code_challenge_methods_supported: ['S256'],
      token_endpoint_auth_methods_supported: ['none', 'client_secret_basic', 'client_secret_post'],
      ...(namesItself && { authorization_response_iss_parameter_supported: true }),
      ...(JSON.parse(JSON.stringify(members ?? {}).replaceAll('ISSUER', base)) as object),
    })
  }

  function register(body: string, response: ServerResponse): void {
    const { registered, refuseRegistration } = issuer.behaviour
    if (refuseRegistration) return json(response, 403, { error: 'access_denied' })
    const asked = JSON.parse(body) as { readonly redirect_uris?: readonly string[] }
    const id = randomUUID()
    clients.set(id, asked.redirect_uris ?? [])
    json(response, 201, { ...asked, client_id: id, token_endpoint_auth_method: 'none', ...registered })
  }

  function authorize({ searchParams: query }: URL, response: ServerResponse): void {
    const { refuseAuthorization, audienceParameter, namesItself, issuerInResponse = issuer.issuer } = issuer.behaviour
    const redirect = query.get('redirect_uri') ?? ''
    const known = clients.get(query.get('client_id') ?? '')
    if (known !== undefined && !known.includes(redirect)) {
      return json(response, 400, { error: 'invalid_request', error_description: 'redirect_uri' })
    }
    const back = new URL(redirect)
    back.searchParams.set('state', query.get('state') ?? '')
    if (namesItself) back.searchParams.set('iss', issuerInResponse)
    if (refuseAuthorization !== undefined) back.searchParams.set('error', refuseAuthorization)
    else {
      const code = randomUUID()
      grants.set(code, {
        challenge: query.get('code_challenge') ?? '',
        redirect,
        audience: query.get(audienceParameter ? 'audience' : 'resource') ?? undefined,
        scope: query.get('scope') ?? '',
      })
      back.searchParams.set('code', code)
    }
    response.writeHead(302, { location: String(back) }).end()
  }

  async function token(form: URLSearchParams, request: IncomingMessage, response: ServerResponse): Promise<void> {
    const { claims, refuseToken } = issuer.behaviour
    if (refuseToken !== undefined) return json(response, 400, { error: refuseToken })
    if (form.get('grant_type') === 'client_credentials') {
      const secret = form.get('client_secret') ?? request.headers.authorization
      if (!secret) return json(response, 401, { error: 'invalid_client' })
      const aud = form.get('resource') ?? undefined
      return issue(response, { aud, scope: form.get('scope') ?? '', ...claims })
    }
    const code = form.get('code') ?? ''
    const grant = grants.get(code)
    grants.delete(code)
    const challenge = createHash('sha256')
      .update(form.get('code_verifier') ?? '')
      .digest('base64url')
    if (grant?.challenge !== challenge || grant.redirect !== form.get('redirect_uri')) {
      return json(response, 400, { error: 'invalid_grant' })
    }
    return issue(response, { aud: grant.audience, scope: grant.scope, ...claims })
  }

  async function issue(response: ServerResponse, claims: Readonly<Record<string, unknown>>): Promise<void> {
    const { scope } = claims
    json(response, 200, { access_token: await sign(claims), token_type: 'Bearer', expires_in: 600, scope })
  }

  return issuer
}

async function createKey(kid: string) {
  const { publicKey, privateKey } = await generateKeyPair('ES256', { extractable: true })
  return { privateKey, jwk: { ...(await exportJWK(publicKey)), kid, alg: 'ES256', use: 'sig' } }
}

function json(response: ServerResponse, status: number, body: unknown): void {
  response.writeHead(status, { 'content-type': 'application/json' }).end(JSON.stringify(body))
}
