import { decodeBase64Url } from '#base/base64url.ts'
import { parseJson } from '#base/parse-json.ts'
import type { Report } from './report.ts'
import { isObject } from './web.ts'

export type Claims = Readonly<Record<string, unknown>>

/** Reads a token as the gateway would, without verifying it. @param resource undefined: not known */
export function examineToken(report: Report, token: string, resource: string | undefined): void {
  report.hide(token)
  const claims = claimsOf(token)
  if (claims === undefined) {
    return report.fail(
      'audience',
      'the token is not a JSON Web Token',
      'The gateway verifies tokens itself. Some providers issue opaque tokens unless the client requests an audience: set audiences and provider.',
    )
  }
  const audiences = audiencesIn(claims)
  const facts = `issuer ${String(claims.iss)}, audience ${audiences.join(' ') || 'absent'}`
  const { exp, nbf } = claims
  const nowSeconds = Date.now() / 1000
  if (typeof exp === 'number' && exp < nowSeconds) {
    return report.fail('audience', `the token expired at ${timeOf(exp)}`, 'Get a new token.')
  }
  if (typeof nbf === 'number' && nbf > nowSeconds) {
    const change = 'The clocks of the identity provider and of this machine must agree, and nbf is in seconds.'
    return report.fail('audience', `the token is not valid before ${timeOf(nbf)}`, change)
  }
  if (resource === undefined || audiences.some((each) => isSame(each, resource))) return report.ok('audience', facts)
  report.note(
    'audience',
    `${facts}; the resource is ${resource}`,
    'The audiences of the provider in jwtAuthentication must have one that the token has, and no other service may accept it. Let the identity provider issue tokens for the resource.',
  )
}

export function claimsOf(token: string): Claims | undefined {
  const parts = token.split('.')
  const bytes = parts.length === 3 ? decodeBase64Url(parts[1]!) : undefined
  if (bytes === undefined) return undefined
  try {
    const claims = parseJson(new TextDecoder().decode(bytes))
    return isObject(claims) ? claims : undefined
  } catch {
    return undefined
  }
}

/** @param seconds since the epoch, as a token says: it may be outside of the range of dates */
function timeOf(seconds: number): string {
  const date = new Date(seconds * 1000)
  return Number.isNaN(date.getTime()) ? String(seconds) : date.toISOString()
}

function audiencesIn({ aud }: Claims): readonly string[] {
  return (Array.isArray(aud) ? aud : [aud]).filter((each) => typeof each === 'string')
}

function isSame(audience: string, resource: string): boolean {
  return audience.replace(/\/$/, '') === resource.replace(/\/$/, '')
}
