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
 * Sends the caller to another URL (Gateway API, HTTPRequestRedirectFilter). What the filter does not name stays as
 * the caller sent it; the path of a modifier is that of the routed request, in which the matched prefix is.
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
  head.set('location', `${scheme}://${authorityOf(plan, scheme, exchange.originalAuthority)}${target}`)
  return { kind: 'answer', head, body: undefined }
}

/**
 * The port: as configured; else, with a configured scheme, that scheme's own; else the one that the caller used. The scheme's own
 * port is never written.
 */
function authorityOf(plan: RedirectPlan, scheme: 'http' | 'https', original: string): string {
  const { host, port } = splitAuthority(original)
  const wanted = plan.port ?? (plan.scheme === undefined ? port : undefined)
  const name = plan.hostname ?? host
  return wanted === undefined || wanted === DEFAULT_PORT[scheme] ? name : `${name}:${wanted}`
}
