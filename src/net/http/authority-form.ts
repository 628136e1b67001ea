import { withoutPort } from './field-syntax.ts'

/** The last authority that was read, and its host: requests in a row are mostly for one host, which then is one string with one hash. */
let lastAuthority: string | undefined
let lastHost: string

/**
 * The host of an authority: lower case, without port and without the final dot of an absolute name (RFC 1034, 3.1), as in TLS server
 * names. Another spelling of a host must not bypass its listener.
 */
export function hostOf(authority: string): string {
  if (authority !== lastAuthority) {
    lastAuthority = authority
    lastHost = readHost(authority)
  }
  return lastHost
}

function readHost(authority: string): string {
  const host = withoutPort(authority)
  return (host.endsWith('.') ? host.slice(0, -1) : host).toLowerCase()
}

/**
 * The normalized authority for matching and expressions: the host as in `hostOf`, and the port unless it is 80 or 443 (RFC 3986, 6.2.3).
 * TLS may be terminated before the gateway, so the scheme does not tell which default port applies (decision A-136).
 */
export function matchedAuthority(authority: string): string {
  const port = authority.slice(withoutPort(authority).length)
  return hostOf(authority) + (DEFAULT_PORT.test(port) ? '' : port)
}

/** The port may be empty or have leading zeros, because receivers parse it as a number. */
const DEFAULT_PORT = /^:0*(?:80|443)?$/
