import type { CallResponse } from '#exchange/call.ts'
import { isSameServer } from '../target/redirected-path.ts'

/**
 * The path and query of the endpoint that a target has named: an absolute URL of the same server, a path, a query, or a path relative to
 * that of the stream. Messages go to the destination of the configuration in any case.
 * @returns undefined: it is at another server, or no URL
 */
export function endpointPath(
  named: string,
  { response, base }: { readonly response: Pick<CallResponse, 'endpoint'>; readonly base: string },
): string | undefined {
  const from = URL.parse(`http://${response.endpoint}${base}`)
  const to = from === null ? null : URL.parse(named, from)
  if (from === null || to === null || !/^https?:$/.test(to.protocol) || !isSameServer(to, from)) return undefined
  return `${to.pathname}${to.search}`
}
