import type { IdpReply, IdpRequest } from '../http/idp-request.ts'
import { tokenPage } from '../http/pages.ts'
import { issuerOf, type ProviderContext, type SignInWish } from '../provider-context.ts'
import { ACCOUNT, findClient } from '../realm.ts'
import { accessToken, verifiedClaims } from '../tokens.ts'
import { askUser, sessionOf } from './authorize.ts'
import { scopesIn } from './token.ts'

/** A page on which a user signs in and sees a token, for trying a gateway. */
export async function accountPage(context: ProviderContext, request: IdpRequest): Promise<IdpReply> {
  const realm = context.realmOf(request)
  const issuer = issuerOf(request, realm.name)
  const client = findClient(realm, ACCOUNT)
  if (client?.enabled !== true)
    return { status: 404, json: { error: 'the client of this page is disabled or removed' } }
  // The code of the sign-in that ended here: the page needs only the session.
  context.codes.take(request.query.get('code') ?? undefined)
  const scopes = scopesIn('openid')
  const session = sessionOf(context, request, realm)
  if (session === undefined) {
    const absent = { state: undefined, nonce: undefined, challenge: undefined, namesIssuer: true }
    const wish: SignInWish = {
      realm: realm.name,
      clientId: client.id,
      redirectUri: `${issuer}/account`,
      scopes,
      ...absent,
    }
    return askUser(context, request, wish, client)
  }
  const user = realm.users.get(session.userId)!
  const token = await accessToken({ realm, issuer, client, user, scopes, sessionId: session.id })
  const claims = (await verifiedClaims(realm, issuer, token)) ?? {}
  return { status: 200, html: tokenPage(user.username, token, claims, `${issuer}/protocol/openid-connect/logout`) }
}
