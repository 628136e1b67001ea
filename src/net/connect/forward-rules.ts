import ipaddr from 'ipaddr.js'

/** A network: an address and the length of its prefix. */
export type Network = readonly [ipaddr.IPv4 | ipaddr.IPv6, number]

/** A socket of this process. */
export type IsOwnSocket = (address: string, port: number) => boolean

/** Networks that clients must not reach through the gateway, with their names (decision A-96). */
const REFUSED: readonly (readonly [network: Network, name: string])[] = (
  [
    ['0.0.0.0/8', 'an unspecified address'],
    ['127.0.0.0/8', 'a loopback address'],
    ['169.254.0.0/16', 'a link-local address'],
    ['224.0.0.0/4', 'a multicast address'],
    ['255.255.255.255/32', 'a broadcast address'],
    // Metadata services of clouds that are not link-local.
    ['100.100.100.200/32', 'a metadata address'],
    ['168.63.129.16/32', 'a metadata address'],
    ['192.0.0.192/32', 'a metadata address'],
    ['fd00:ec2::254/128', 'a metadata address'],
    ['fd00:ec2::23/128', 'a metadata address'],
    ['fd20:ce::254/128', 'a metadata address'],
    ['fd00:42::42/128', 'a metadata address'],
    ['::/128', 'an unspecified address'],
    ['::1/128', 'a loopback address'],
    ['fe80::/10', 'a link-local address'],
    ['ff00::/8', 'a multicast address'],
  ] as const
).map(([network, name]) => [ipaddr.parseCIDR(network), name])

/** Decides which addresses a destination that a client has chosen may have (decision A-96). */
export class ForwardRules {
  readonly #allowed: readonly Network[]
  readonly #isOwn: IsOwnSocket

  /**
   * @param allowed networks that are permitted whatever they are (`--allow-forward-to`)
   * @param isOwn sockets of the gateway, which are never permitted: a request must not return to the gateway
   */
  constructor(allowed: readonly Network[] = [], isOwn: IsOwnSocket = () => false) {
    this.#allowed = allowed
    this.#isOwn = isOwn
  }

  /** @returns why the address must not be dialled, for operators; undefined: it may be */
  refuse(address: string, port: number): string | undefined {
    // A zone selects an interface of the gateway (RFC 4007), and only link-local addresses need one.
    if (!ipaddr.isValid(address) || address.includes('%')) return `${address} is not an address to forward to`
    const parsed = ipaddr.process(address)
    const addresses = [parsed, ...embedded(parsed)]
    if (addresses.some((it) => this.#isOwn(it.toString(), port))) return `${address}:${port} is the gateway itself`
    if (this.#isAllowed(parsed)) return undefined
    for (const it of addresses) {
      const refused = REFUSED.find(([network]) => contains(network, it))
      if (refused !== undefined && !this.#isAllowed(it)) return `${address} is ${refused[1]}`
    }
    return undefined
  }

  /** Whether a socket of the gateway has that address, whatever is permitted. */
  isGateway(address: string, port: number): boolean {
    return this.#isOwn(address, port)
  }

  #isAllowed(address: ipaddr.IPv4 | ipaddr.IPv6): boolean {
    return this.#allowed.some((network) => contains(network, address))
  }
}

/** A network that `--allow-forward-to` names; a single address is a network, too. @returns undefined if the text is none */
export function parseNetwork(text: string): Network | undefined {
  const [, host = '', prefix] = /^([^/%]*)(?:\/(\d{1,3}))?$/.exec(text) ?? []
  // Other spellings of IPv4 addresses, such as 127.1, are more likely mistakes.
  if (!ipaddr.IPv4.isValidFourPartDecimal(host) && !ipaddr.IPv6.isValid(host)) return undefined
  const address = ipaddr.parse(host)
  const bits = address.toByteArray().length * 8
  const length = prefix === undefined ? bits : Number(prefix)
  return length <= bits ? [address, length] : undefined
}

function contains([network, prefix]: Network, address: ipaddr.IPv4 | ipaddr.IPv6): boolean {
  return address.kind() === network.kind() && address.match(network as never, prefix)
}

/** Bytes of an IPv4 address within an IPv6 address, by the length of the prefix of a translator (RFC 6052, 2.2). Byte 8 is not used. */
const AFTER_48 = [6, 7, 9, 10]
const AFTER_56 = [7, 9, 10, 11]
const AFTER_64 = [9, 10, 11, 12]
const AFTER_96 = [12, 13, 14, 15]

/** Networks of IPv6 addresses that contain an IPv4 address, the bytes where it may be, and whether its bits are inverted. */
const EMBEDDING: readonly (readonly [network: Network, places: readonly (readonly number[])[], inverted: boolean])[] = (
  [
    // IPv4-compatible (RFC 4291, 2.5.5.1), IPv4-translated (RFC 2765), NAT64 (RFC 6052), 6to4 (RFC 3056), Teredo (RFC 4380).
    ['::/96', [AFTER_96], false],
    ['::ffff:0:0:0/96', [AFTER_96], false],
    ['64:ff9b::/96', [AFTER_96], false],
    // NAT64 within a network, whose operator chooses the length of the prefix (RFC 8215).
    ['64:ff9b:1::/48', [AFTER_48, AFTER_56, AFTER_64, AFTER_96], false],
    ['2002::/16', [[2, 3, 4, 5]], false],
    ['2001::/32', [AFTER_96], true],
  ] as const
).map(([network, places, inverted]) => [ipaddr.parseCIDR(network), places, inverted])

/** The IPv4 addresses that a router may take out of an IPv6 address. */
function embedded(address: ipaddr.IPv4 | ipaddr.IPv6): readonly ipaddr.IPv4[] {
  if (address.kind() === 'ipv4') return []
  const bytes = address.toByteArray()
  return EMBEDDING.filter(([network]) => contains(network, address)).flatMap(([, places, inverted]) =>
    places
      .map((place) => place.map((at) => (inverted ? bytes[at]! ^ 0xff : bytes[at]!)))
      // Of several places only one has the address, and the others usually have zeros.
      .filter(([first]) => places.length === 1 || first !== 0)
      .map((found) => new ipaddr.IPv4(found)),
  )
}
