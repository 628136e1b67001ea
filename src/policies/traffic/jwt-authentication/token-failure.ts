/** Why a token is not valid, in words for the log; the caller is never told (decision A-53). */
export const TOKEN_FAILURES = {
  several: 'several tokens that differ were sent, or something that is none',
  'too-long': 'the token is too long',
  malformed: 'the token is not a signed JSON Web Token in compact form',
  'duplicate-member': 'a member of the header or of the claims of the token is there twice',
  'critical-extension': 'the token asks for an extension that is not known',
  'no-kid': 'the token does not name its key: its header has no "kid"',
  'no-issuer': 'the token has no claim "iss"',
  'other-issuer': 'the issuer of the token is not configured',
  'nearly-issuer': 'the issuer of the token and one that is configured differ in a slash at the end',
  'no-keys': 'the key set of the issuer has no key that can be used',
  'unknown-kid': 'the key of the token is not in the key set of its issuer',
  'other-algorithm': 'the algorithm of the token is not one of its key',
  signature: 'the signature of the token is not by its key',
  'no-audience': 'the token has no claim "aud"',
  'other-audience': 'the token is for another audience',
  'no-expiry': 'the token has no claim "exp" that is a time',
  expired: 'the token has expired',
  'not-yet': 'the token is not valid yet',
  'bad-not-before': 'the claim "nbf" of the token is not a time',
} as const

export type TokenFailure = keyof typeof TOKEN_FAILURES
