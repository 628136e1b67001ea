import { randomUUID } from 'node:crypto'
import { jwtVerify, SignJWT } from 'jose'
import { clock } from '#base/clock.ts'
import type { Client, Mapper, Realm, User } from './realm.ts'
import { signingKey } from './realm-keys.ts'

/** Lifetime of access tokens and id tokens. */
export const TOKEN_SECONDS = 300

/** For whom tokens are issued, and by what request. */
export interface Grant {
  readonly realm: Realm
  readonly issuer: string
  readonly client: Client
  /** Undefined: the client itself. */
  readonly user: User | undefined
  readonly scopes: readonly string[]
  readonly sessionId: string
  readonly nonce?: string | undefined
  /** In seconds since the epoch. */
  readonly authTime?: number | undefined
}

/** An access token as a JWT (RFC 9068 in spirit, with the claims of Keycloak). */
export async function accessToken(grant: Grant): Promise<string> {
  const { client, user, realm, scopes, sessionId } = grant
  return sign(grant, {
    aud: 'account',
    typ: 'Bearer',
    azp: client.clientId,
    sid: sessionId,
    scope: scopes.join(' '),
    realm_access: { roles: user?.isAdmin === true ? ['admin'] : [`default-roles-${realm.name}`] },
    ...(user === undefined ? { clientId: client.clientId } : {}),
    ...identity(grant),
    ...mapped(grant, 'access.token.claim'),
  })
}

/** An id token (OpenID Connect Core 1.0, 2). */
export async function idToken(grant: Grant): Promise<string> {
  const { client, nonce, authTime, sessionId } = grant
  return sign(grant, {
    aud: client.clientId,
    typ: 'ID',
    azp: client.clientId,
    sid: sessionId,
    ...(nonce === undefined ? {} : { nonce }),
    ...(authTime === undefined ? {} : { auth_time: authTime }),
    ...identity(grant),
    ...mapped(grant, 'id.token.claim'),
  })
}

/** The answer of the userinfo endpoint (OpenID Connect Core 1.0, 5.3). */
export function userInfo(grant: Pick<Grant, 'client' | 'user' | 'scopes'>): object {
  return { ...identity(grant), ...mapped(grant, 'id.token.claim') }
}

/**
 * A token with which clients are registered.
 * @param lifetimeSeconds 0: it does not expire
 */
export async function initialAccessToken(
  { keys }: Realm,
  issuer: string,
  jti: string,
  lifetimeSeconds: number,
): Promise<string> {
  const { kid, privateKey } = signingKey(keys)
  const iat = seconds()
  const end = lifetimeSeconds === 0 ? {} : { exp: iat + lifetimeSeconds }
  return new SignJWT({ typ: 'InitialAccessToken', jti, iss: issuer, aud: issuer, iat, ...end })
    .setProtectedHeader({ alg: 'RS256', kid, typ: 'JWT' })
    .sign(privateKey)
}

/**
 * The claims of a token that a realm has signed; undefined: it has not, or the token is not valid any more.
 * @param mayBeExpired the token only names a session (OpenID Connect RP-Initiated Logout 1.0, 4)
 */
export async function verifiedClaims(
  { keys }: Realm,
  issuer: string,
  token: string,
  mayBeExpired = false,
): Promise<Readonly<Record<string, unknown>> | undefined> {
  try {
    const keyOf = ({ kid }: { readonly kid?: string }) => {
      const key = keys.find((one) => one.kid === kid && one.use === 'sig')
      if (key === undefined) throw new Error('unknown key')
      return key.publicKey
    }
    const options = { issuer, algorithms: ['RS256'], currentDate: new Date(mayBeExpired ? 0 : clock.now()) }
    return (await jwtVerify(token, keyOf, options)).payload
  } catch {
    return undefined
  }
}

async function sign({ realm, issuer }: Grant, claims: object): Promise<string> {
  const { kid, privateKey } = signingKey(realm.keys)
  const iat = seconds()
  return new SignJWT({ ...claims, iss: issuer, iat, exp: iat + TOKEN_SECONDS, jti: randomUUID() })
    .setProtectedHeader({ alg: 'RS256', kid, typ: 'JWT' })
    .sign(privateKey)
}

export function seconds(): number {
  return Math.floor(clock.now() / 1000)
}

function identity({ client, user, scopes }: Pick<Grant, 'client' | 'user' | 'scopes'>): object {
  if (user === undefined) return { sub: client.id, preferred_username: `service-account-${client.clientId}` }
  const { id, username, email, firstName, lastName } = user
  const name = [firstName, lastName].filter((part) => part !== undefined).join(' ')
  return {
    sub: id,
    preferred_username: username,
    ...(name === '' ? {} : { name }),
    ...(firstName === undefined ? {} : { given_name: firstName }),
    ...(lastName === undefined ? {} : { family_name: lastName }),
    ...(email === undefined || !scopes.includes('email') ? {} : { email, email_verified: false }),
  }
}

const ATTRIBUTE_MAPPER = 'oidc-usermodel-attribute-mapper'

/** Claims on whose values others rely: no mapper replaces them. */
const FIXED: ReadonlySet<string> = new Set(
  'iss sub aud exp nbf iat jti typ azp sid scope nonce auth_time realm_access clientId email_verified'.split(' '),
)

/** The claims that mappers of the client make of attributes. */
function mapped(
  { client, user }: Pick<Grant, 'client' | 'user'>,
  token: 'access.token.claim' | 'id.token.claim',
): Readonly<Record<string, unknown>> {
  const claims = client.mappers.flatMap(({ protocolMapper, config }) => {
    if (protocolMapper !== ATTRIBUTE_MAPPER || config[token] !== 'true') return []
    const attribute = config['user.attribute'] ?? ''
    const [value] = user !== undefined && Object.hasOwn(user.attributes, attribute) ? user.attributes[attribute]! : []
    const name = config['claim.name']
    return value === undefined || name === undefined || FIXED.has(name) ? [] : [[name, typed(value, config)] as const]
  })
  return Object.fromEntries(claims)
}

function typed(value: string, { 'jsonType.label': type }: Mapper['config']): unknown {
  if (type === 'boolean') return value === 'true'
  if (type === 'int' || type === 'long') return Number(value)
  return value
}
