import { bearerOf, type IdpReply, type IdpRequest } from '../http/idp-request.ts'
import { IdpError } from '../idp-error.ts'
import { definedIn, memberTexts, textMember } from '../json-members.ts'
import { issuerOf, type ProviderContext } from '../provider-context.ts'
import { type Client, createClient, findClient, MAX_CLIENTS, type Realm, randomSecret } from '../realm.ts'
import { isNavigable } from '../redirect-uri.ts'
import { digest } from '../short-lived.ts'
import { seconds, verifiedClaims } from '../tokens.ts'
import { clientChanges, clientRepresentation } from './client-representation.ts'

/** Anybody may register clients until a realm has so many (policy `max-clients`). */
const MAX_BEFORE_ANYBODY = 200

const AUTH_METHODS = ['client_secret_basic', 'client_secret_post', 'none']

/** Registers a client, described as Keycloak does (document 1, 4.4). @throws IdpError */
export async function registerRepresentation(context: ProviderContext, request: IdpRequest): Promise<IdpReply> {
  const realm = context.realmOf(request)
  const use = await permission(realm, request)
  const clientId = textMember(request.json, 'clientId')
  if (clientId === undefined || clientId === '') throw invalidMetadata('clientId is missing')
  const name = textMember(request.json, 'name')
  const redirectUris = redirectUrisIn(request.json, 'redirectUris') ?? []
  const registrationAccessToken = randomSecret()
  const client = add(realm, use, {
    clientId,
    redirectUris,
    ...(name === undefined ? {} : { name }),
    secret: randomSecret(),
    registrationToken: digest(registrationAccessToken),
  })
  context.state.save()
  const location = `${issuerOf(request, realm.name)}/clients-registrations/default/${encodeURIComponent(clientId)}`
  return { status: 201, json: { ...clientRepresentation(client), registrationAccessToken }, headers: { location } }
}

/** Registers a client as OpenID Connect does (RFC 7591, 3). @throws IdpError */
export async function registerOpenIdClient(context: ProviderContext, request: IdpRequest): Promise<IdpReply> {
  const realm = context.realmOf(request)
  const use = await permission(realm, request)
  const redirectUris = redirectUrisIn(request.json, 'redirect_uris')
  if (redirectUris === undefined || redirectUris.length === 0) throw invalidMetadata('redirect_uris is missing')
  const method = textMember(request.json, 'token_endpoint_auth_method') ?? 'client_secret_basic'
  if (!AUTH_METHODS.includes(method)) throw invalidMetadata(`token_endpoint_auth_method ${method} is not supported`)
  const name = textMember(request.json, 'client_name')
  const isPublic = method === 'none'
  const registrationAccessToken = randomSecret()
  const client = add(realm, use, {
    clientId: randomSecret(),
    redirectUris,
    ...(name === undefined ? {} : { name }),
    ...(isPublic ? {} : { secret: randomSecret() }),
    registrationToken: digest(registrationAccessToken),
  })
  context.state.save()
  const { clientId, secret } = client
  const json = {
    client_id: clientId,
    ...(secret === undefined ? {} : { client_secret: secret, client_secret_expires_at: 0 }),
    client_id_issued_at: seconds(),
    ...(name === undefined ? {} : { client_name: name }),
    redirect_uris: redirectUris,
    grant_types: ['authorization_code', 'refresh_token'],
    response_types: ['code'],
    token_endpoint_auth_method: method,
    registration_access_token: registrationAccessToken,
  }
  return { status: 201, json }
}

/** The client as the owner of its registration access token sees it, in the form of Keycloak. @throws IdpError 401 */
export function registeredClient(context: ProviderContext, request: IdpRequest): IdpReply {
  const { client, token } = ownClient(context.realmOf(request), request)
  return { status: 200, json: { ...clientRepresentation(client), registrationAccessToken: token } }
}

/**
 * Changes name, redirect URIs and attributes of a client, for the owner of its registration access token: another one replaces that token. Other
 * members stay as they are, so that a client does not get more than a registration gives. @throws IdpError
 */
export function changeRegisteredClient(context: ProviderContext, request: IdpRequest): IdpReply {
  const realm = context.realmOf(request)
  const { client } = ownClient(realm, request)
  const { name, attributes } = clientChanges(request.json)
  const redirectUris = redirectUrisIn(request.json, 'redirectUris')
  const registrationAccessToken = randomSecret()
  const changed: Client = {
    ...client,
    ...definedIn({ name, attributes, redirectUris }),
    registrationToken: digest(registrationAccessToken),
  }
  realm.clients.set(client.id, changed)
  context.state.save()
  return { status: 200, json: { ...clientRepresentation(changed), registrationAccessToken } }
}

/** @throws IdpError 401, also if there is no such client: nobody learns which there are */
function ownClient(realm: Realm, request: IdpRequest): { readonly client: Client; readonly token: string } {
  const token = bearerOf(request) ?? ''
  const client = findClient(realm, request.params.client!)
  if (client?.registrationToken === undefined || client.registrationToken !== digest(token)) throw invalidToken()
  return { client, token }
}

/** Who registers: anybody, or the owner of an initial access token. */
type Permission = { readonly initialToken: string | undefined }

/** @throws IdpError 401, 403 */
async function permission(realm: Realm, request: IdpRequest): Promise<Permission> {
  const token = bearerOf(request)
  if (token === undefined) {
    checkPolicies(realm)
    return { initialToken: undefined }
  }
  const claims = await verifiedClaims(realm, issuerOf(request, realm.name), token)
  const id = String(claims?.jti)
  if (claims?.typ !== 'InitialAccessToken' || (realm.initialTokens.get(id) ?? 0) < 1) {
    throw invalidToken()
  }
  return { initialToken: id }
}

/** Policies about clients that anybody registers. @throws IdpError 403 */
function checkPolicies({ components, clients }: Realm): void {
  const has = (providerId: string) =>
    [...components.values()].some((one) => one.providerId === providerId && one.subType === 'anonymous')
  if (has('trusted-hosts')) throw refusedBy('Trusted Hosts', 'Host not trusted.')
  if (has('max-clients') && clients.size >= MAX_BEFORE_ANYBODY) {
    throw refusedBy('Max Clients Limit', `The realm has ${MAX_BEFORE_ANYBODY} clients or more.`)
  }
}

function refusedBy(policy: string, details: string): IdpError {
  const message = `Policy '${policy}' rejected request to client-registration service. Details: ${details}`
  return IdpError.oauth(403, 'insufficient_scope', message)
}

/** Adds a client, and counts the use of the initial access token. @throws IdpError 400 */
function add(realm: Realm, { initialToken }: Permission, members: Partial<Client> & Pick<Client, 'clientId'>): Client {
  if (findClient(realm, members.clientId) !== undefined) throw invalidMetadata('Client Identifier in use')
  if (realm.clients.size >= MAX_CLIENTS) throw invalidMetadata(`at most ${MAX_CLIENTS} clients are possible`)
  if (initialToken !== undefined) {
    // Another registration may have been the last one meanwhile.
    const left = realm.initialTokens.get(initialToken) ?? 0
    if (left < 1) throw invalidToken()
    if (left > 1) realm.initialTokens.set(initialToken, left - 1)
    else realm.initialTokens.delete(initialToken)
  }
  const client = createClient(members)
  realm.clients.set(client.id, client)
  return client
}

/** URIs that clients could never use, or that would be scripts, are refused at once (RFC 7591, 3.2.2). */
function redirectUrisIn(json: unknown, name: string): readonly string[] | undefined {
  const uris = memberTexts(json, name)
  for (const uri of uris ?? []) {
    const url = URL.parse(uri.startsWith('/') ? `http://localhost${uri}` : uri)
    if (uri !== '*' && (url === null || uri.includes('#') || !isNavigable(url))) {
      throw IdpError.oauth(400, 'invalid_redirect_uri', `${name}: ${uri} is not possible`)
    }
  }
  return uris
}

function invalidToken(): IdpError {
  return IdpError.oauth(401, 'invalid_token', 'Failed decode token')
}

function invalidMetadata(message: string): IdpError {
  return IdpError.oauth(400, 'invalid_client_metadata', message)
}
