/** Reasons why a token is invalid, as log text. Clients never see them (decision A-53). */
export const TOKEN_FAILURES = {
  several: 'the request has several different tokens, or a value that is not a token',
  'too-long': 'the token is too long',
  malformed: 'the token is not a signed JSON Web Token in compact form',
  'duplicate-member': 'the header or the claims of the token have a duplicate member',
  'critical-extension': 'the token requires an unknown extension',
  'no-kid': 'the header of the token has no "kid"',
  'no-issuer': 'the token has no "iss" claim',
  'other-issuer': 'the issuer of the token is not configured',
  'nearly-issuer': 'the issuer of the token differs from a configured issuer only in a trailing slash',
  'not-fetched': 'the key set of the issuer has not been fetched',
  'no-keys': 'the key set of the issuer has no usable key',
  'unknown-kid': 'the "kid" of the token is not in the key set of its issuer',
  'other-algorithm': 'the algorithm of the token does not match its key',
  signature: 'the signature of the token is invalid',
  'no-audience': 'the token has no "aud" claim',
  'other-audience': 'the token is for another audience',
  'no-expiry': 'the token has no "exp" claim with a timestamp',
  expired: 'the token has expired',
  'not-yet': 'the token is not valid yet',
  'bad-not-before': 'the "nbf" claim of the token is not a timestamp',
} as const

export type TokenFailure = keyof typeof TOKEN_FAILURES
