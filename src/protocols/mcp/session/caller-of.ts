import { toByteText } from '#base/byte-text.ts'
import type { Json } from '#base/json.ts'
import { sha256OfByteText } from '#base/sha256.ts'
import type { Exchange, Identity } from '#exchange/exchange.ts'
import { signedPart } from '#exchange/signed-part.ts'

/**
 * The digest is the same for the same client: `iss` and `sub` of a token, the full name of the entry of an API key, the user of basic
 * authentication, or all of these that the request has. A token without `sub` does not identify a client, so only the same token is the same client.
 */
export function digestOfCaller({ jwt, apiKey, basicAuth }: Identity): string {
  if (jwt === undefined && apiKey === undefined && basicAuth === undefined) return NOBODY
  const caller: Record<string, Json> = {}
  if (jwt !== undefined) caller.jwt = [jwt.claims.iss ?? null, jwt.claims.sub ?? { token: signedPart(jwt.token) }]
  if (apiKey !== undefined) caller.apiKey = apiKey.entry
  if (basicAuth !== undefined) caller.basicAuth = basicAuth.username
  return digestOf(caller)
}

function digestOf(caller: Readonly<Record<string, Json>>): string {
  return sha256OfByteText(toByteText(JSON.stringify(caller))).slice(0, 32)
}

const NOBODY = digestOf({})

/**
 * The client of a request that belongs to no session, as well as the request shows it: identity, address, credentials and program. Two
 * clients may look the same. @param backend its key
 */
export function callerOf(backend: string, { request, peer, identity }: Exchange): string {
  const shown = ['authorization', 'cookie', 'user-agent'].map((name) => request.joined(name) ?? null)
  return digestOf({ seen: [backend, digestOfCaller(identity), peer.remoteAddress, ...shown] })
}
