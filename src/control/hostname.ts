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
 * The intersection of the hostname of a listener with the hostnames of a route.
 * @param wanted hostnames of the route; empty: any host
 * @returns undefined if the intersection is empty; an empty list stands for any host; `wanted` itself if it is equal
 */
export function agreedHostnames(listener: string, wanted: readonly string[]): readonly string[] | undefined {
  if (wanted.length === 0) return listener === '' ? [] : [listener]
  const agreed = new Set<string>()
  for (const hostname of wanted) {
    const both = intersectHostname(listener, normaliseHostname(hostname))
    if (both === '') return []
    if (both !== undefined) agreed.add(both)
  }
  if (agreed.size === 0) return undefined
  return agreed.size === wanted.length && wanted.every((hostname) => agreed.has(hostname)) ? wanted : [...agreed]
}
