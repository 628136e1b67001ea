import { parseJson } from '#base/parse-json.ts'

/** The claims of a token that the provider has just sent over the same connection; the signature is not checked. */
export function claimsOf(token: unknown): Readonly<Record<string, unknown>> {
  const [, payload = ''] = typeof token === 'string' ? token.split('.') : []
  try {
    const claims = parseJson(Buffer.from(payload, 'base64url').toString())
    return typeof claims === 'object' && claims !== null ? (claims as Record<string, unknown>) : {}
  } catch {
    return {}
  }
}
