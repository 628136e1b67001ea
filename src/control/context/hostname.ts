import ipaddr from 'ipaddr.js'
import type { Report } from './reporting.ts'
/**
 * Normalizes the hostname of a listener or route to lower case: empty (any host), exact, or `*.suffix`, where `*` matches one or more
 * labels (Gateway API, Hostname).
 */
export function normaliseHostname(hostname: string | undefined): string {
  return hostname === undefined || hostname === '*' ? '' : hostname.toLowerCase()
}

/** @returns the more specific hostname if one covers the other; undefined if no host matches both */
export function intersectHostname(a: string, b: string): string | undefined {
  if (covers(a, b)) return b
  return covers(b, a) ? a : undefined
}

/** Whether every host that matches `narrow` also matches `wide`. */
function covers(wide: string, narrow: string): boolean {
  if (wide === '' || wide === narrow) return true
  return wide.startsWith('*.') && narrow.endsWith(wide.slice(1)) && narrow.length > wide.length - 1
}

/**
 * The hostnames of a route of which a listener serves at least one host. They stay as the route has them: a listener only gets requests for hosts
 * that it serves, and which of two routes takes precedence goes by their own hostnames (Gateway API, HTTPRouteSpec.hostnames).
 * @param wanted hostnames of the route; empty: any host
 * @returns undefined if the listener serves none; an empty list stands for any host; `wanted` itself if it is equal
 */
export function servedHostnames(listener: string, wanted: readonly string[]): readonly string[] | undefined {
  if (wanted.length === 0) return wanted
  const served = new Set<string>()
  for (const hostname of wanted) {
    const own = normaliseHostname(hostname)
    if (intersectHostname(listener, own) === undefined) continue
    if (own === '') return []
    served.add(own)
  }
  if (served.size === 0) return undefined
  return served.size === wanted.length && wanted.every((hostname) => served.has(hostname)) ? wanted : [...served]
}

/** Reports hostnames that are IP addresses, which the Gateway API excludes (Hostname). @param path of the field with the hostname */
export function reportAddress(hostname: string, path: string, report: Report): void {
  if (!ipaddr.IPv4.isValidFourPartDecimal(hostname)) return
  const message = 'must not be an IP address; leave the hostname out to serve requests for addresses'
  report({ path, code: 'invalid-host', message, severity: 'error' })
}
