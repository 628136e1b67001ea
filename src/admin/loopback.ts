import { timingSafeEqual } from 'node:crypto'
import type { IncomingHttpHeaders } from 'node:http'
import { BlockList, isIP } from 'node:net'
import { type Answer, textAnswer } from './answer.ts'

const LOOPBACK = new BlockList()
LOOPBACK.addSubnet('127.0.0.0', 8)
LOOPBACK.addAddress('::1', 'ipv6')

/** Whether a host is a loopback address or name: `127.0.0.1`, `::1`, `localhost`, `name.localhost` (RFC 6761). */
export function isLoopback(host: string): boolean {
  const version = isIP(host)
  if (version !== 0) return LOOPBACK.check(host, version === 6 ? 'ipv6' : 'ipv4')
  return /^(?:[a-z0-9-]+\.)*localhost\.?$/i.test(host)
}

/**
 * Protects a server without authentication (decision A-116) against remote clients and foreign web pages. Firewall rules can forward
 * remote clients to a loopback address. A web page can make a browser send requests to it, either through a name that resolves to this
 * machine (DNS rebinding; visible in `Host`), or as a cross-site request (visible in `Sec-Fetch-Site` and `Origin`).
 */
export function refuseOutsiders(headers: IncomingHttpHeaders, address: string | undefined): Answer | undefined {
  const { host, origin } = headers
  if (address === undefined || !isLoopback(address))
    return textAnswer(403, 'forbidden: only loopback clients are allowed')
  if (host === undefined || !isLoopback(nameOf(host))) {
    return textAnswer(403, 'forbidden: the host must be localhost or a loopback address')
  }
  const site = headers['sec-fetch-site']
  const crossSite = site !== undefined && site !== 'same-origin' && site !== 'none'
  if (crossSite || (origin !== undefined && origin !== `http://${host}`)) {
    return textAnswer(403, 'forbidden: cross-site requests are refused')
  }
  return undefined
}

/** Local programs of other users reach the server, too: to change something takes the token that only the user of the gateway can read. */
export function refuseWithoutToken({ authorization }: IncomingHttpHeaders, token: string): Answer | undefined {
  if (authorization !== undefined && isSame(authorization, `Bearer ${token}`)) return undefined
  return textAnswer(
    401,
    'unauthorized: send the token in the file admin-token of the state folder as Authorization: Bearer',
    {
      'www-authenticate': 'Bearer',
    },
  )
}

/** In the same time for every text of a length. */
function isSame(one: string, other: string): boolean {
  const [bytes, others] = [Buffer.from(one), Buffer.from(other)]
  return bytes.length === others.length && timingSafeEqual(bytes, others)
}

/** The name of `name:port`, without the brackets of an IPv6 address. */
function nameOf(host: string): string {
  const bracketed = /^\[([^\]]*)\](?::\d+)?$/.exec(host)
  return bracketed?.[1] ?? host.replace(/:\d+$/, '')
}
