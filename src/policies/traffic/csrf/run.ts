import type { Exchange } from '#exchange/exchange.ts'
import { type Outcome, proceed, reject } from '#exchange/outcome.ts'
import { receivedValues } from '../../shared/fields/received-field.ts'
import { parseOrigin, splitAuthority, type WebOrigin } from '../../shared/url/web-origin.ts'

const SAFE_METHODS: ReadonlySet<string> = new Set(['GET', 'HEAD', 'OPTIONS'])

/**
 * Refuses cross-site requests of browsers (specification 2, 2.2.4). It checks the request as received, so that a transformation cannot
 * disable it (decision A-85).
 */
export function checkCsrf(additional: ReadonlySet<string>, exchange: Exchange): Outcome {
  if (SAFE_METHODS.has(exchange.originalMethod)) return proceed
  const sites = receivedValues(exchange.request, 'sec-fetch-site')
  const origins = receivedValues(exchange.request, 'origin')
  if (sites.length > 1 || origins.length > 1) return refuse('a repeated header')
  const [site] = sites
  const [written] = origins
  if (site === undefined && written === undefined) return proceed
  if (site === 'same-origin' || site === 'none') return proceed

  const origin = written === undefined ? undefined : parseOrigin(written)
  if (origin !== undefined && additional.has(originKey(origin))) return proceed
  if (site !== undefined) return refuse('Sec-Fetch-Site')
  return origin !== undefined && isOwn(origin, exchange) ? proceed : refuse('Origin')
}

export function originKey({ scheme, host, port }: WebOrigin): string {
  return `${scheme}://${host}:${port}`
}

/** Host and effective port must be equal, but not the scheme: TLS may be terminated in front of the gateway (decision A-88). */
function isOwn(origin: WebOrigin, exchange: Exchange): boolean {
  const { host, port } = splitAuthority(exchange.originalAuthority)
  if (origin.host !== host) return false
  return port === undefined ? origin.port === 80 || origin.port === 443 : origin.port === port
}

function refuse(why: string): Outcome {
  return reject('csrf-failed', { detail: `refused for ${why}` })
}
