/** The issuer as the address of its server; undefined: it has none that metadata could be fetched from (RFC 8414, 2). */
export function issuerUrl(issuer: string | undefined): URL | undefined {
  const url = URL.parse(issuer ?? '')
  if (url === null || (url.protocol !== 'https:' && url.protocol !== 'http:')) return undefined
  const { username, password, search, hash } = url
  return username + password + search + hash === '' ? url : undefined
}

/** The server of an issuer as a backend of the plan. */
export function issuerBackend(issuer: string | undefined) {
  const url = issuerUrl(issuer)
  if (url === undefined) return undefined
  const tls = url.protocol === 'https:'
  const port = url.port === '' ? (tls ? 443 : 80) : Number(url.port)
  return { type: 'issuer', spec: { host: url.hostname, port, tls } }
}
