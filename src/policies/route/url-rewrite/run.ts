import type { Exchange } from '#exchange/exchange.ts'
import { type Outcome, proceed, reject } from '#exchange/outcome.ts'
import type { PathModifier } from '../../shared/url/path-modifier.ts'

export interface UrlRewritePlan {
  readonly hostname: string | undefined
  readonly modifyPath: PathModifier | undefined
}

/**
 * Changes host and path of the upstream request. The port of the old host is removed, and the automatic host rewrite is disabled
 * (specification 2, 2.2.4).
 */
export function rewriteUrl(plan: UrlRewritePlan, exchange: Exchange): Outcome {
  const { request, matchedPrefix } = exchange
  if (plan.modifyPath !== undefined) {
    const target = plan.modifyPath(request.target, matchedPrefix)
    if (target === undefined) return reject('filter-failed', { detail: 'urlRewrite cannot rewrite this path' })
    request.target = target
  }
  if (plan.hostname !== undefined) {
    request.authority = plan.hostname
    exchange.hostRewritten = true
  }
  return proceed
}
