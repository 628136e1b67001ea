import { parseExactJson } from '#base/exact-json.ts'
import type { Json, JsonObject } from '#base/json.ts'
import { EXACT_NAMES, findAmbiguousMember } from '#base/json-ambiguity.ts'

/** Metadata of an authorization server, checked. */
export type ServerMetadata = JsonObject & {
  readonly authorization_endpoint: string
  readonly token_endpoint: string
  readonly registration_endpoint?: string
}

/**
 * Parses the metadata of an authorization server (RFC 8414, 2). Clients will trust what it says, so a document that is not clearly that of
 * the issuer is refused.
 * @returns why it cannot be used
 */
export function readServerMetadata(text: string, issuer: string): ServerMetadata | string {
  const members = membersOf(text)
  if (typeof members === 'string') return members
  if (members.issuer !== issuer) return `its issuer is ${describe(members.issuer)}, not ${JSON.stringify(issuer)}`
  for (const name of ['authorization_endpoint', 'token_endpoint']) {
    if (members[name] === undefined) return `it has no ${name}`
  }
  for (const [name, value] of Object.entries(members)) {
    const isAddress = name.endsWith('_endpoint') || name === 'jwks_uri'
    if (isAddress && !isSafe(value, issuer)) return `its ${name} is not an address that clients may use`
  }
  return members as ServerMetadata
}

function membersOf(text: string): JsonObject | string {
  try {
    const value = parseExactJson(text)
    if (typeof value !== 'object' || value === null || Array.isArray(value)) return 'it is not a JSON object'
    const ambiguous = findAmbiguousMember(text, EXACT_NAMES)
    return ambiguous === undefined ? (value as JsonObject) : `it has two members ${describe(ambiguous.key)}`
  } catch {
    // Not JSON, or nested too deep.
    return 'it is not JSON'
  }
}

/** An https address, or http if the issuer itself is: then it is a test. */
function isSafe(value: Json | undefined, issuer: string): boolean {
  const url = typeof value === 'string' ? URL.parse(value) : null
  if (url === null || url.username !== '' || url.password !== '' || url.hash !== '') return false
  return url.protocol === 'https:' || (url.protocol === 'http:' && issuer.startsWith('http:'))
}

/** For operators; texts of other servers are cut. */
function describe(value: Json | undefined): string {
  return value === undefined ? 'absent' : JSON.stringify(value).slice(0, 200)
}
