import { parseOrigin, type WebOrigin } from '../../shared/url/web-origin.ts'

/** Tests whether an origin matches an entry of `allowOrigins`. */
export type OriginPattern = (origin: WebOrigin) => boolean

/**
 * Parses `<scheme>://<host>(:<port>)`, where `*` in the host matches any characters, including dots.
 * @returns undefined for any other form
 */
export function parseOriginPattern(text: string): OriginPattern | undefined {
  const pattern = parseOrigin(text)
  if (pattern === undefined) return undefined
  const { scheme, port } = pattern
  const parts = pattern.host.split('*')
  return (origin) => origin.scheme === scheme && origin.port === port && matchesParts(origin.host, parts)
}

/** Linear time: each inner part is matched at its first occurrence. */
function matchesParts(host: string, parts: readonly string[]): boolean {
  if (parts.length === 1) return host === parts[0]
  const first = parts[0]!
  const last = parts[parts.length - 1]!
  if (!host.startsWith(first)) return false
  let at = first.length
  for (const part of parts.slice(1, -1)) {
    const found = host.indexOf(part, at)
    if (found < 0) return false
    at = found + part.length
  }
  return host.length - last.length >= at && host.endsWith(last)
}
