import { withoutPort } from './field-syntax.ts'

/** The last authority that was read, and its host: requests in a row are mostly for one host, which then is one string with one hash. */
let lastAuthority = ''
let lastHost = ''

/**
 * The host of an authority: lower case, without port, and without the final dot that makes a name absolute (RFC 1034, 3.1), as in
 * server names of TLS: another spelling of a host may not lead past its listener.
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
 * The form of an authority that is matched and shown to expressions: its host as above, and its port unless that is one of the
 * schemes' own (RFC 3986, 6.2.3). TLS may end before us, so the scheme does not say which of the two is (decision A-136).
 */
export function matchedAuthority(authority: string): string {
  const port = authority.slice(withoutPort(authority).length)
  return hostOf(authority) + (OWN_PORT.test(port) ? '' : port)
}

/** May be empty or have leading zeros, since receivers parse it as a number. */
const OWN_PORT = /^:0*(?:80|443)?$/
