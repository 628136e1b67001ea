import ipaddr from 'ipaddr.js'
import { type OperatorServer, type OwnMachine, UNKNOWN_MACHINE } from './own-machine.ts'

/** A network: an address and the length of its prefix. */
export type Network = readonly [ipaddr.IPv4 | ipaddr.IPv6, number]

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

/** Names that always are those of loopback addresses (RFC 6761, 6.3). */
const LOOPBACK_NAME = /(?:^|\.)localhost\.?$/i
const LOOPBACK_ADDRESSES = ['127.0.0.1', '::1']

/** Servers that no object may make the gateway call: what they answer, or do, is for operators (decision A-138). */
const REFUSED_SERVERS: Partial<Record<OperatorServer, string>> = { admin: 'admin server', api: 'resource API' }

/** Decides which addresses the gateway connects to (decisions ). */
export class ForwardRules {
  readonly #allowed: readonly Network[]
  readonly #own: OwnMachine

  /**
   * @param allowed networks that clients may choose whatever they are (`--allow-forward-to`)
   * @param own the machine of the gateway; its sockets are never permitted to clients: a request must not return to the gateway
   */
  constructor(allowed: readonly Network[] = [], own: OwnMachine = UNKNOWN_MACHINE) {
    this.#allowed = allowed
    this.#own = own
  }

  /** For a destination that a client has chosen. @returns why the address must not be dialled, for operators; undefined: it may be */
  refuse(address: string, port: number): string | undefined {
    // A zone selects an interface of the gateway (RFC 4007), and only link-local addresses need one.
    if (!ipaddr.isValid(address) || address.includes('%')) return `${address} is not an address to forward to`
    const parsed = ipaddr.process(address)
    const addresses = [parsed, ...embedded(parsed)]
    if (addresses.some((it) => this.isGateway(it.toString(), port))) return `${address}:${port} is the gateway itself`
    if (this.#isAllowed(parsed)) return undefined
    for (const it of addresses) {
      const refused = this.#nameRefused(it)
      if (refused !== undefined && !this.#isAllowed(it)) return `${address} is ${refused}`
    }
    return undefined
  }

  /**
   * For a destination that a client has chosen and a proxy server resolves, which chooses between the addresses of a name: only names of
   * loopback addresses are known, and they are those of the gateway if the proxy server is on its machine.
   */
  refuseName(host: string, port: number): string | undefined {
    if (!LOOPBACK_NAME.test(host)) return undefined
    if (LOOPBACK_ADDRESSES.some((address) => this.isGateway(address, port)))
      return `${host}:${port} is the gateway itself`
    const refusals = LOOPBACK_ADDRESSES.map((address) => this.refuse(address, port))
    return refusals.includes(undefined) ? undefined : `${host}: ${refusals[0]}`
  }

  /** For a destination of the configuration, as `refuse`. @param host an address in any spelling, or a name */
  refuseConfigured(host: string, port: number): string | undefined {
    const server = this.serverAt(host, port)
    const name = server && REFUSED_SERVERS[server]
    return name && `${host}:${port} is the ${name} of the gateway itself`
  }

  /** The server for operators at an address in any spelling, or at a name that always has the address of this machine. */
  serverAt(host: string, port: number): OperatorServer | undefined {
    for (const address of meant(host)) {
      const server = this.#own.serverAt(address, port)
      if (server !== undefined) return server
    }
    return undefined
  }

  /** Whether a socket of the gateway has that address, whatever is permitted. */
  isGateway(address: string, port: number): boolean {
    return this.#own.isListener(address, port) || this.#own.serverAt(address, port) !== undefined
  }

  #nameRefused(address: ipaddr.IPv4 | ipaddr.IPv6): string | undefined {
    const refused = REFUSED.find(([network]) => contains(network, address))
    if (refused !== undefined) return refused[1]
    // Services that listen on all addresses of the machine are often meant for its own users.
    return this.#own.hasAddress(address.toString()) ? 'an address of this machine' : undefined
  }

  #isAllowed(address: ipaddr.IPv4 | ipaddr.IPv6): boolean {
    return this.#allowed.some((network) => contains(network, address))
  }
}

/** The addresses that a host may mean, as far as its text tells. */
function meant(host: string): readonly string[] {
  const [address = ''] = host.split('%')
  if (!ipaddr.isValid(address)) return LOOPBACK_NAME.test(host) ? LOOPBACK_ADDRESSES : []
  const parsed = ipaddr.process(address)
  return [parsed, ...embedded(parsed)].map((it) => it.toString())
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
