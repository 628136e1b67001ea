import { type Groups, parseIpAddress, sharePrefix } from './ip-address.ts'

/** A network: the addresses that share the first `prefixLength` bits of an address. */
export interface IpNetwork {
  readonly groups: Groups
  readonly prefixLength: number
}

/** Parses CIDR notation, such as `10.0.0.0/8`. @returns undefined for anything else */
export function parseIpNetwork(text: string): IpNetwork | undefined {
  const found = /^(.+)\/(0|[1-9]\d{0,2})$/.exec(text)
  const groups = found === null ? undefined : parseIpAddress(found[1]!)
  if (found === null || groups === undefined) return undefined
  const prefixLength = Number(found[2])
  return prefixLength > groups.length * 16 ? undefined : { groups, prefixLength }
}

/** Parses CIDR notation or one address. */
export function parseIpNetworkOrAddress(text: string): IpNetwork | undefined {
  if (text.includes('/')) return parseIpNetwork(text)
  const groups = parseIpAddress(text)
  return groups === undefined ? undefined : { groups, prefixLength: groups.length * 16 }
}

export function networkContains({ groups, prefixLength }: IpNetwork, address: Groups): boolean {
  return sharePrefix(groups, address, prefixLength)
}
