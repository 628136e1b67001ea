import type { IdpReply, IdpRequest } from '../http/idp-request.ts'
import { messagePage } from '../http/pages.ts'
import { issuerOf, type ProviderContext } from '../provider-context.ts'
import { findClient } from '../realm.ts'
import { verifiedClaims } from '../tokens.ts'
import { isAllowed, SESSION_COOKIE } from './authorize.ts'

/**
 * Ends a session: of the browser (OpenID Connect RP-Initiated Logout 1.0), or of a refresh token. The browser is sent back only to a URI of the
 * client that the id token names.
 */
export async function logout(context: ProviderContext, request: IdpRequest): Promise<IdpReply> {
  const realm = context.realmOf(request)
  const { form, cookies, origin } = request
  const fields = request.method === 'POST' ? form : request.query
  const refreshToken = fields.get('refresh_token')
  if (refreshToken !== null) {
    const refresh = context.refreshTokens.take(refreshToken)
    context.browsers.remove(({ id }) => id === refresh?.session.id)
    return { status: 204 }
  }
  const session = context.browsers.take(cookies[SESSION_COOKIE])
  context.refreshTokens.remove((refresh) => refresh.session.id === session?.id)
  const hint = fields.get('id_token_hint')
  const claims = hint === null ? undefined : await verifiedClaims(realm, issuerOf(request, realm.name), hint)
  const client = findClient(realm, String(claims?.azp ?? ''))
  const back = fields.get('post_logout_redirect_uri')
  if (client !== undefined && back !== null && isAllowed(back, client, origin)) {
    const url = new URL(back)
    const state = fields.get('state')
    if (state !== null) url.searchParams.set('state', state)
    return { status: 302, headers: { location: url.href } }
  }
  return { status: 200, html: messagePage('Signed out', 'You are signed out.') }
}
