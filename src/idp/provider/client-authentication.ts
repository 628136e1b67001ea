import { createHash, timingSafeEqual } from 'node:crypto'
import type { IdpRequest } from './http/idp-request.ts'
import { IdpError } from './idp-error.ts'
import { type Client, findClient, type Realm } from './realm.ts'

interface Credentials {
  readonly id: string
  readonly secret: string | null
}

/**
 * The client of a request, by its secret in the form or in the header, but not in both (RFC 6749, 2.3); a public one names itself.
 * @throws IdpError
 */
export function authenticatedClient(realm: Realm, { form, authorization }: IdpRequest): Client {
  const basic = basicCredentials(authorization)
  const [id, secret] = [form.get('client_id'), form.get('client_secret')]
  if (basic !== undefined && (secret !== null || (id ?? basic.id) !== basic.id)) {
    throw IdpError.oauth(400, 'invalid_request', 'The client is named in the header and in the body')
  }
  const given: Credentials = basic ?? { id: id ?? '', secret }
  const client = findClient(realm, given.id)
  if (client === undefined || !client.enabled) throw refused('invalid_client', basic)
  if (client.secret !== undefined && !sameText(client.secret, given.secret ?? '')) {
    throw refused('unauthorized_client', basic)
  }
  return client
}

/** The challenge has the scheme that the client has used (RFC 6749, 5.2). */
function refused(error: string, basic: Credentials | undefined): IdpError {
  const headers = basic === undefined ? {} : { 'www-authenticate': 'Basic realm="clients"' }
  return IdpError.oauth(401, error, 'Invalid client or Invalid client credentials', headers)
}

/** Id and secret are encoded as in forms (RFC 6749, 2.3.1). @throws IdpError if the scheme is Basic, and they cannot be read */
function basicCredentials(authorization = ''): Credentials | undefined {
  if (!/^basic\b/i.test(authorization)) return undefined
  const encoded = /^basic +(?<value>[\w+/=-]+) *$/i.exec(authorization)?.groups?.value ?? ''
  const text = Buffer.from(encoded, 'base64').toString()
  const mark = text.indexOf(':')
  if (mark < 0) throw refused('invalid_client', { id: '', secret: null })
  try {
    return { id: decodeURIComponent(text.slice(0, mark)), secret: decodeURIComponent(text.slice(mark + 1)) }
  } catch {
    throw refused('invalid_client', { id: '', secret: null })
  }
}

function sameText(one: string, other: string): boolean {
  const digest = (text: string) => createHash('sha256').update(text).digest()
  return timingSafeEqual(digest(one), digest(other))
}
