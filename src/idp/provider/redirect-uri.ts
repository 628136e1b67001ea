import type { Client } from './realm.ts'

/**
 * Whether a browser may be sent to a URI. A registered URI is compared as text (RFC 9700, 4.1.3); one that begins with `/` is relative to the
 * provider. `*` alone stands for any URI, and `*` at the end for the rest of a path or of a query: scheme, host and port must be equal.
 */
export function isAllowed(
  redirectUri: string,
  { redirectUris }: Pick<Client, 'redirectUris'>,
  origin: string,
): boolean {
  const url = URL.parse(redirectUri)
  if (url === null || redirectUri.includes('#') || !isNavigable(url)) return false
  return redirectUris.some((allowed) => {
    const pattern = allowed.startsWith('/') ? `${origin}${allowed}` : allowed
    if (pattern === '*') return true
    return pattern.endsWith('*') ? isBelow(url, pattern.slice(0, -1)) : redirectUri === pattern
  })
}

/** Native applications have schemes of their own; scripts and data never are applications. */
export function isNavigable({ protocol }: URL): boolean {
  return !['javascript:', 'data:', 'vbscript:', 'blob:', 'file:'].includes(protocol)
}

/** Parts are compared after parsing: as text, `http://shop*` would also be the beginning of `http://shop@other` and `http://shop.other`. */
function isBelow(url: URL, prefix: string): boolean {
  const root = URL.parse(prefix)
  if (root === null || url.protocol !== root.protocol || url.host !== root.host) return false
  if (url.username !== '' || url.password !== '') return false
  // A server may read an encoded slash as a slash: `..%2f` would leave the path.
  if (/%2f|%5c/i.test(url.pathname)) return false
  if (prefix.includes('?')) return url.pathname === root.pathname && url.search.startsWith(root.search)
  return url.pathname.startsWith(root.pathname)
}
