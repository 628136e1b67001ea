/** `scheme:` with its authority, the path, and the rest. */
const PARTS = /^([a-z][a-z0-9+.-]*:(?:\/\/[^/?#]*)?)([^?#]*)(.*)$/is

/** What some receivers take for a slash. */
const SEPARATOR = /[/\\]|%2f|%5c/i

const DECODED = /[A-Za-z0-9._~{}-]/

/**
 * The normal form of a resource URI: as receivers read it that parse URIs (WHATWG URL), with characters decoded that need no encoding (RFC 3986, 6.2.2.2),
 * and without dot segments, also where encoded slashes or backslashes separate them. Braces stay, so that templates keep their form.
 */
export function normalUri(uri: string): string {
  const parsed = URL.parse(uri)?.href ?? uri
  const decoded = parsed.replace(/%[0-9a-f]{2}/gi, (triplet) => {
    const character = String.fromCharCode(Number.parseInt(triplet.slice(1), 16))
    return DECODED.test(character) ? character : triplet.toUpperCase()
  })
  return decoded.replace(PARTS, (_, start: string, path: string, rest: string) => {
    return start + withoutDotSegments(start === 'file://' ? oneSlashEach(path) : path) + rest
  })
}

/** No name of a file contains a slash, and several slashes are one. */
function oneSlashEach(path: string): string {
  return path.replace(/(?:\/|%2F)+/g, '/')
}

/** RFC 3986, 5.2.4. */
function withoutDotSegments(path: string): string {
  const segments = path.split(SEPARATOR)
  if (!segments.some(isDots)) return path
  const first = path.startsWith('/') ? 1 : 0
  const kept: string[] = []
  for (const segment of segments) {
    if (!isDots(segment)) kept.push(segment)
    else if (segment === '..' && kept.length > first) kept.pop()
  }
  if (isDots(segments.at(-1)!)) kept.push('')
  return kept.join('/')
}

function isDots(segment: string): boolean {
  return segment === '.' || segment === '..'
}
