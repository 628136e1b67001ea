/** Header and claims of a token in compact form (RFC 7515, 3.1): the same for all valid signatures of one token. */
export function signedPart(token: string): string {
  return token.slice(0, token.lastIndexOf('.'))
}
