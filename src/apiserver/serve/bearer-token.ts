import { createHash, timingSafeEqual } from 'node:crypto'

/** Checks the tokens of requests (RFC 6750, 2.1), in a time that does not depend on them. */
export function bearerCheck(token: string): (authorization: string | undefined) => boolean {
  const wanted = digest(token)
  return (authorization = '') => {
    const given = /^Bearer +(?<token>\S+) *$/i.exec(authorization)?.groups?.token
    return given !== undefined && timingSafeEqual(digest(given), wanted)
  }
}

function digest(text: string): Buffer {
  return createHash('sha256').update(text).digest()
}
