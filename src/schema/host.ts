import ipaddr from 'ipaddr.js'
import { annotate } from './build.ts'
import type { ScalarRefusal } from './node.ts'
import { shortString } from './scalars.ts'

const DNS_NAME = /^[A-Za-z0-9_](?:[-A-Za-z0-9_]*[A-Za-z0-9_])?(?:\.[A-Za-z0-9_](?:[-A-Za-z0-9_]*[A-Za-z0-9_])?)*\.?$/
/** Every IPv6 address, and some other text. */
const LIKE_IPV6 = /^\[?[0-9A-Fa-f:.]*:[0-9A-Fa-f:.]*(?:%[0-9A-Za-z]+)?\]?$/

function checkHost(value: string | number): ScalarRefusal | undefined {
  const host = String(value)
  const bare = host.startsWith('[') && host.endsWith(']') ? host.slice(1, -1) : host
  if (DNS_NAME.test(host) || ipaddr.IPv6.isValid(bare)) return undefined
  const message = host.includes('://')
    ? 'must be a host name or IP address without a scheme'
    : 'must be a host name or IP address without a port or path'
  return { code: 'invalid-host', message }
}

/** A ShortString that names a host: a DNS name, an IPv4 address, an IPv6 address with or without brackets. */
export const host = () =>
  annotate(shortString(), { check: checkHost, pattern: `${DNS_NAME.source}|${LIKE_IPV6.source}` })
