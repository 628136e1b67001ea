import type { CallResponse } from '#exchange/call.ts'
import { discardBody } from './read-reply.ts'

/**
 * The path of a redirect, if the response is one. Redirects are followed only within the target: its policies and credentials are for this
 * server (RFC 9110, 15.4). A POST is repeated as a POST only after 307 and 308.
 *
 * @param path of the request
 * @returns undefined: the response is no redirect; `refused`: it is one that would change the method
 */
export function redirectedPath(
  response: CallResponse,
  method: 'GET' | 'POST',
  path: string,
): string | 'elsewhere' | 'refused' | undefined {
  const { status } = response
  const applies = KEEPS_METHOD.has(status) || (method === 'GET' && FOR_GET.has(status))
  if (!applies && !FOR_GET.has(status)) return undefined
  const location = response.header('location')
  if (location === undefined) return undefined
  discardBody(response.body)
  if (!applies) return 'refused'
  const from = URL.parse(`http://${response.endpoint}${path}`)
  const to = from === null ? null : URL.parse(location, from)
  if (to === null || from === null) return 'elsewhere'
  return isSameServer(to, from) ? `${to.pathname}${to.search}` : 'elsewhere'
}

/** @param from with scheme http, even if the target has TLS: then its port may be the default one of https */
export function isSameServer(to: URL, from: URL): boolean {
  return to.hostname === from.hostname && (to.port || defaultPort(to)) === (from.port || defaultPort(from))
}

const KEEPS_METHOD = new Set([307, 308])
const FOR_GET = new Set([301, 302, 303])

function defaultPort({ protocol }: URL): string {
  return protocol === 'https:' ? '443' : '80'
}
