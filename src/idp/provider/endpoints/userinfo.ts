import { bearerOf, type IdpReply, type IdpRequest } from '../http/idp-request.ts'
import { issuerOf, type ProviderContext } from '../provider-context.ts'
import { findClient } from '../realm.ts'
import { userInfo, verifiedClaims } from '../tokens.ts'

/** The userinfo endpoint (OpenID Connect Core 1.0, 5.3). */
export async function userinfo(context: ProviderContext, request: IdpRequest): Promise<IdpReply> {
  const realm = context.realmOf(request)
  const token = bearerOf(request)
  const claims = token === undefined ? undefined : await verifiedClaims(realm, issuerOf(request, realm.name), token)
  const user = claims?.typ === 'Bearer' ? realm.users.get(String(claims.sub)) : undefined
  const client = user?.enabled === true ? findClient(realm, String(claims?.azp)) : undefined
  if (client === undefined) {
    const challenge = `Bearer realm="${realm.name}"${token === undefined ? '' : ', error="invalid_token"'}`
    return { status: 401, json: { error: 'invalid_token' }, headers: { 'www-authenticate': challenge } }
  }
  return { status: 200, json: userInfo({ client, user, scopes: String(claims?.scope).split(' ') }) }
}
