import { parseExactJson } from '#base/exact-json.ts'
import type { Json, JsonObject } from '#base/json.ts'
import type { RunContext } from '#exchange/run-context.ts'
import { type AuthorizationServer, Unavailable } from './authorization-server.ts'

/** The setting of a client of IdpTwo (Keycloak) whose authorization responses have no `iss`. */
const ATTRIBUTE = 'exclude.issuer.from.auth.response'

/**
 * Sets a client that was just registered at IdpTwo to get authorization responses without `iss` (RFC 9207). It names the provider, and clients
 * compare it with the issuer of the metadata, which is the gateway: they would refuse every response. Registrations of OpenID Connect
 * have no such member, so the client is changed with its registration access token, in the provider's own form.
 * @param registered the answer to the registration, for the client
 * @param path where the provider keeps its own form of clients, without the id
 * @returns the answer with the newest registration access token; or why the client stays as it is
 */
export async function omitIssuer(
  server: AuthorizationServer,
  registered: string,
  path: string,
  { call, signal }: Pick<RunContext, 'call' | 'signal'>,
): Promise<string | Unavailable> {
  const registration = objectIn(registered)
  const { client_id: id, registration_access_token: token } = registration ?? {}
  if (typeof id !== 'string' || !isPathSegment(id) || !isToken(token)) {
    return new Unavailable('the registration has no access token with which the client could be changed')
  }
  const own = `${path}/${encodeURIComponent(id)}`

  async function send(method: 'GET' | 'PUT', bearer: string, body: JsonObject | undefined) {
    const headers = [
      ['accept', 'application/json'],
      ['authorization', `Bearer ${bearer}`],
      ...(body === undefined ? [] : ([['content-type', 'application/json']] as const)),
    ] as const
    const bytes = body && new TextEncoder().encode(JSON.stringify(body))
    const answer = await server.send(call, { method, path: own, headers, body: bytes }, signal)
    if (answer instanceof Unavailable) return answer
    const client = answer.response.status === 200 ? objectIn(answer.text) : undefined
    return client ?? new Unavailable(`${method} ${path}: the server answered ${answer.response.status}`)
  }

  const client = await send('GET', token, undefined)
  if (client instanceof Unavailable) return client
  const attributes = { ...(client.attributes as JsonObject | undefined), [ATTRIBUTE]: 'true' }
  const changed = await send('PUT', newestToken(client, token), { ...client, attributes })
  if (changed instanceof Unavailable) return changed
  return JSON.stringify({ ...registration, registration_access_token: newestToken(changed, token) })
}

/** A change may replace the token. */
function newestToken({ registrationAccessToken }: JsonObject, known: string): string {
  return isToken(registrationAccessToken) ? registrationAccessToken : known
}

/** Visible ASCII: nothing that could end a header. */
function isToken(value: Json | undefined): value is string {
  return typeof value === 'string' && /^[\x21-\x7e]+$/.test(value)
}

function isPathSegment(id: string): boolean {
  return id !== '' && id !== '.' && id !== '..'
}

function objectIn(text: string): JsonObject | undefined {
  try {
    const value = parseExactJson(text)
    return typeof value === 'object' && value !== null && !Array.isArray(value) ? (value as JsonObject) : undefined
  } catch {
    return undefined
  }
}
