import { FailureLimit } from './failure-limit.ts'
import { bearerOf, type IdpRequest } from './http/idp-request.ts'
import { IdpError } from './idp-error.ts'
import { MASTER, type ProviderState } from './provider-state.ts'
import type { Realm, User } from './realm.ts'
import { ShortLived } from './short-lived.ts'
import { verifiedClaims } from './tokens.ts'

const SECOND = 1000
/** How long a user stays signed in without a request. */
export const SESSION_SECONDS = 1800

/** A user who is signed in at a browser or a client. */
export interface Session {
  readonly id: string
  readonly realm: string
  readonly userId: string
  /** In seconds since the epoch. */
  readonly authTime: number
}

/** What a refresh token stands for. */
export interface Refresh {
  readonly session: Session
  readonly clientId: string
  readonly scopes: readonly string[]
}

/** A request of a client to sign a user in (RFC 6749, 4.1.1; RFC 7636). */
export interface SignInWish {
  readonly realm: string
  readonly clientId: string
  readonly redirectUri: string
  readonly scopes: readonly string[]
  readonly state: string | undefined
  readonly nonce: string | undefined
  readonly challenge: string | undefined
  /** The answer has `iss`, which lets a client of several providers see whose answer it is (RFC 9207). */
  readonly namesIssuer: boolean
}

/** A sign-in that a user has begun in a browser. */
export interface Attempt {
  readonly wish: SignInWish
  /** Only the browser that began it can end it. */
  readonly browser: string
}

/** What the endpoints of a provider work on. */
export class ProviderContext {
  readonly state: ProviderState
  readonly refreshTokens = new ShortLived<Refresh>(SESSION_SECONDS * SECOND, 10_000)
  readonly codes = new ShortLived<{ readonly wish: SignInWish; readonly session: Session }>(60 * SECOND, 1000)
  readonly attempts = new ShortLived<Attempt>(600 * SECOND, 1000)
  readonly browsers = new ShortLived<Session>(SESSION_SECONDS * SECOND, 10_000)
  readonly failures = new FailureLimit()

  constructor(state: ProviderState) {
    this.state = state
  }

  /** @throws IdpError 404 */
  realmOf({ params }: IdpRequest): Realm {
    const realm = this.state.realm(params.realm!)
    if (realm === undefined) throw IdpError.admin(404, 'Realm does not exist')
    return realm
  }

  /** @throws IdpError 401, 403: the bearer is not an administrator */
  async checkAdmin(request: IdpRequest): Promise<void> {
    const master = this.state.realm(MASTER)!
    const token = bearerOf(request)
    const claims = token === undefined ? undefined : await verifiedClaims(master, issuerOf(request, MASTER), token)
    if (claims?.typ !== 'Bearer') throw IdpError.admin(401, 'HTTP 401 Unauthorized')
    const user = master.users.get(String(claims.sub))
    if (user === undefined || !user.enabled) throw IdpError.admin(401, 'HTTP 401 Unauthorized')
    if (!user.isAdmin) throw IdpError.admin(403, 'HTTP 403 Forbidden')
  }

  /** Ends all sessions of a user. */
  signOut({ id }: Pick<User, 'id'>): void {
    this.#end(({ userId }) => userId === id)
  }

  /** Ends one session: in its browser, and for all clients that have codes or refresh tokens of it. */
  endSession(sessionId: string): void {
    this.#end(({ id }) => id === sessionId)
  }

  #end(matches: (session: Session) => boolean): void {
    this.browsers.remove(matches)
    this.codes.remove(({ session }) => matches(session))
    this.refreshTokens.remove(({ session }) => matches(session))
  }
}

export function issuerOf({ origin }: Pick<IdpRequest, 'origin'>, realm: string): string {
  return `${origin}/realms/${encodeURIComponent(realm)}`
}
