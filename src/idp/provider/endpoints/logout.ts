import type { IdpReply, IdpRequest } from '../http/idp-request.ts'
import { logoutPage, messagePage } from '../http/pages.ts'
import { issuerOf, type ProviderContext } from '../provider-context.ts'
import { findClient } from '../realm.ts'
import { isAllowed } from '../redirect-uri.ts'
import { verifiedClaims } from '../tokens.ts'
import { sessionOf } from './authorize.ts'

/**
 * Ends a session: of the browser (OpenID Connect RP-Initiated Logout 1.0), or of a refresh token. Without an id token of the session, the user is
 * asked first: any page may link to this one. The browser is sent back only to a URI of the client that the id token names.
 */
export async function logout(context: ProviderContext, request: IdpRequest): Promise<IdpReply> {
  const realm = context.realmOf(request)
  const isForm = request.method === 'POST'
  const fields = isForm ? request.form : request.query
  const refreshToken = fields.get('refresh_token')
  if (refreshToken !== null) {
    const refresh = context.refreshTokens.get(refreshToken)
    if (refresh?.session.realm === realm.name) context.endSession(refresh.session.id)
    return { status: 204 }
  }
  const issuer = issuerOf(request, realm.name)
  const hint = fields.get('id_token_hint')
  const claims = hint === null ? undefined : await verifiedClaims(realm, issuer, hint, true)
  const idToken = claims?.typ === 'ID' ? claims : undefined
  const session = sessionOf(context, request, realm)
  if (session !== undefined && session.id !== idToken?.sid && !isForm) {
    return { status: 200, html: logoutPage(realm.name, `${issuer}/protocol/openid-connect/logout`, [...fields]) }
  }
  if (session !== undefined) context.endSession(session.id)
  if (idToken !== undefined) context.endSession(String(idToken.sid))
  const client = idToken && findClient(realm, String(idToken.azp))
  const back = fields.get('post_logout_redirect_uri')
  if (client !== undefined && back !== null && isAllowed(back, client, request.origin)) {
    const url = new URL(back)
    const state = fields.get('state')
    if (state !== null) url.searchParams.set('state', state)
    return { status: 302, headers: { location: url.href } }
  }
  return { status: 200, html: messagePage('Signed out', 'You are signed out.') }
}
