import { existsSync } from 'node:fs'

/** IPv6 and IPv4; a node without IPv6 has only the second. */
const ANY = '::'
const ANY_IPV4 = '0.0.0.0'
const IPV6_ADDRESSES = '/proc/net/if_inet6'

/** The address to bind to, where this machine has it: `::` becomes `0.0.0.0` on one without IPv6. */
export function availableAddress(bind: string): string {
  return bind === ANY && process.platform === 'linux' && !existsSync(IPV6_ADDRESSES) ? ANY_IPV4 : bind
}
