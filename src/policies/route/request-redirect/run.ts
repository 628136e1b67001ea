import type { Exchange } from '#exchange/exchange.ts'
import { type Outcome, reject } from '#exchange/outcome.ts'
import { Head } from '#net/http/head.ts'
import type { PathModifier } from '../../shared/url/path-modifier.ts'
import { DEFAULT_PORT, splitAuthority } from '../../shared/url/web-origin.ts'

export interface RedirectPlan {
  readonly scheme: 'http' | 'https' | undefined
  readonly hostname: string | undefined
  readonly modifyPath: PathModifier | undefined
  readonly port: number | undefined
  readonly status: number
}

/**
 * Redirects the client (Gateway API, HTTPRequestRedirectFilter). Parts that the filter does not set are those that the client sent; a path
 * modifier applies to the path of the routed request, which has the matched prefix.
 */
export function redirect(plan: RedirectPlan, exchange: Exchange): Outcome {
  const target =
    plan.modifyPath === undefined
      ? exchange.originalTarget
      : plan.modifyPath(exchange.request.target, exchange.matchedPrefix)
  if (target === undefined) return reject('filter-failed', { detail: 'requestRedirect cannot rewrite this path' })
  const received = exchange.peer.secure ? 'https' : 'http'
  const scheme = plan.scheme ?? received
  const head = Head.response(plan.status)
  head.set('location', `${scheme}://${authorityOf(plan, scheme, exchange)}${target}`)
  return { kind: 'answer', head, body: undefined }
}

/**
 * The port: as configured; else the default port of a configured scheme; else the port of the listener, whatever the client named
 * (HTTPRequestRedirectFilter.port). The default port of the scheme is omitted.
 */
function authorityOf(plan: RedirectPlan, scheme: 'http' | 'https', { originalAuthority, peer }: Exchange): string {
  const { host } = splitAuthority(originalAuthority)
  const wanted = plan.port ?? (plan.scheme === undefined ? peer.localPort : undefined)
  const name = plan.hostname ?? host
  return wanted === undefined || wanted === DEFAULT_PORT[scheme] ? name : `${name}:${wanted}`
}
