/**
 * Hostnames as listeners and routes write them: empty (any), exact, or `*.suffix`, which stands for one or more labels
 * (Gateway API, Hostname). All lower case.
 */
export function normaliseHostname(hostname: string | undefined): string {
  return hostname === undefined || hostname === '*' ? '' : hostname.toLowerCase()
}

/** @returns the narrower of the two hostnames when one covers the other, undefined when no host matches both */
export function intersectHostname(a: string, b: string): string | undefined {
  if (covers(a, b)) return b
  return covers(b, a) ? a : undefined
}

/** True when every host that `narrow` stands for is one that `wide` stands for. */
function covers(wide: string, narrow: string): boolean {
  if (wide === '' || wide === narrow) return true
  return wide.startsWith('*.') && narrow.endsWith(wide.slice(1)) && narrow.length > wide.length - 1
}

/**
 * The hosts for which a route with `wanted` hostnames is served by a listener.
 * @returns undefined when there is none; an empty list stands for any host
 */
export function agreedHostnames(listener: string, wanted: readonly string[]): readonly string[] | undefined {
  if (wanted.length === 0) return listener === '' ? [] : [listener]
  const agreed = new Set<string>()
  for (const hostname of wanted) {
    const both = intersectHostname(listener, normaliseHostname(hostname))
    if (both === '') return []
    if (both !== undefined) agreed.add(both)
  }
  return agreed.size === 0 ? undefined : [...agreed]
}
