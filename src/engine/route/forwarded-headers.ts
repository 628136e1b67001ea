import { parseIpAddress } from '#base/ip-address.ts'
import { type IpNetwork, networkContains, parseIpNetworkOrAddress } from '#base/ip-network.ts'
import type { Exchange } from '#exchange/exchange.ts'
import type { Head } from '#net/http/head.ts'
import { foldName } from '#net/http/same-name.ts'
import type { ListenerItem } from '#plan/item.ts'

/** Tells backends about the connection of the client (docs/behaviour/http.md, "Forwarded headers"). */
export interface ForwardedHeaders {
  /** The proxies whose statements about their own clients are kept. */
  readonly trusted: readonly IpNetwork[]
}

/** @returns undefined if the fields pass unchanged */
export function compileForwardedHeaders({ forwardedHeaders }: ListenerItem): ForwardedHeaders | undefined {
  if (forwardedHeaders === undefined) return undefined
  return { trusted: forwardedHeaders.trustedProxies.flatMap((text) => parseIpNetworkOrAddress(text) ?? []) }
}

/**
 * Sets X-Forwarded-For, -Proto, -Host and X-Request-Id before any policy reads them. From a trusted proxy, its fields are kept and the list is
 * extended; from anyone else, every field of this kind is replaced or removed.
 */
export function setForwardedHeaders({ trusted }: ForwardedHeaders, exchange: Exchange): void {
  const { request, peer } = exchange
  const { remoteAddress } = peer
  const isTrusted = trusted.length > 0 && contains(trusted, remoteAddress)
  if (!isTrusted) removeStatements(request)
  const before = isTrusted ? request.joined('x-forwarded-for') : undefined
  request.set('x-forwarded-for', before ? `${before}, ${remoteAddress}` : remoteAddress)
  keepOrSet(request, 'x-forwarded-proto', SCHEME, exchange.scheme)
  keepOrSet(request, 'x-forwarded-host', HOST, exchange.originalAuthority)
  if (!hasOne(request, 'x-request-id', REQUEST_ID)) request.set('x-request-id', exchange.context.uuid())
  exchange.trace?.step({
    stage: 'pre-routing',
    name: 'forwarded headers',
    verdict: 'proceed',
    detail: `${remoteAddress} is ${isTrusted ? 'a trusted proxy; its fields are kept' : 'not a trusted proxy; its fields are replaced'}`,
    origins: [],
  })
}

/** Whether the name is one that the gateway sets, or removes from requests of clients that are not trusted. */
export function isForwardedField(foldedName: string): boolean {
  return foldedName.startsWith('x-forwarded-') || OTHERS.has(foldedName)
}

/** `forwarded` is RFC 7239; applications read it and `x-real-ip` like `x-forwarded-for`. */
const OTHERS: ReadonlySet<string> = new Set(['forwarded', 'x-real-ip', 'x-request-id'])

const SCHEME = /^https?$/i
const HOST = /^[^\s,]+$/
const REQUEST_ID = /^[!-~]{1,128}$/

function contains(networks: readonly IpNetwork[], address: string): boolean {
  const groups = parseIpAddress(address)
  return groups !== undefined && networks.some((network) => networkContains(network, groups))
}

function removeStatements(request: Head): void {
  let found: string[] | undefined
  request.each((name) => {
    if (isForwardedField(foldName(name))) found = [...(found ?? []), name]
  })
  for (const name of found ?? []) request.remove(name)
}

function keepOrSet(request: Head, name: string, form: RegExp, value: string): void {
  if (hasOne(request, name, form)) return
  // HTTP/1.0 has requests without a host.
  if (value === '') request.remove(name)
  else request.set(name, value)
}

/** Whether there is one field of the name, in this form. Two would be read as one text by some backends, and as either by others. */
function hasOne(request: Head, name: string, form: RegExp): boolean {
  const value = request.joined(name)
  return value !== undefined && form.test(value)
}
