import { formatIpAddress, type Groups, maskAddress, parseIpAddress, sharePrefix } from '#base/ip-address.ts'
import { parseIpNetwork } from '#base/ip-network.ts'
import { CelError } from '../error.ts'
import { define, type Implementation, type Overload, type Prepare } from '../overload.ts'
import { HostObject, type Result, type Value } from '../value.ts'

const NOT_IP = new CelError('invalid', 'not an IP address')
const NOT_CIDR = new CelError('invalid', 'not a network in CIDR notation')

/** `ip("10.1.2.3")` */
class IpAddress extends HostObject {
  readonly typeName = 'net.IP'
  readonly groups: Groups

  constructor(groups: Groups) {
    super()
    this.groups = groups
  }

  override equals(other: Value): boolean {
    return other instanceof IpAddress && sharePrefix(this.groups, other.groups, this.groups.length * 16)
  }

  override toJson(): string {
    return formatIpAddress(this.groups)
  }
}

/** `cidr("10.0.0.0/8")` */
class Cidr extends HostObject {
  readonly typeName = 'net.CIDR'
  readonly groups: Groups
  readonly prefixLength: number

  constructor(groups: Groups, prefixLength: number) {
    super()
    this.groups = groups
    this.prefixLength = prefixLength
  }

  contains(groups: Groups): boolean {
    return sharePrefix(this.groups, groups, this.prefixLength)
  }

  override equals(other: Value): boolean {
    if (!(other instanceof Cidr) || other.prefixLength !== this.prefixLength) return false
    return sharePrefix(this.groups, other.groups, this.groups.length * 16)
  }

  override toJson(): string {
    return `${formatIpAddress(this.groups)}/${this.prefixLength}`
  }
}

function parseIp(text: string): IpAddress | CelError {
  const groups = parseIpAddress(text)
  return groups === undefined ? NOT_IP : new IpAddress(groups)
}

function parseCidr(text: string): Cidr | CelError {
  const network = parseIpNetwork(text)
  return network === undefined ? NOT_CIDR : new Cidr(network.groups, network.prefixLength)
}

function containsText(cidr: Cidr, text: string): Result {
  const groups = parseIpAddress(text)
  return groups === undefined ? NOT_IP : cidr.contains(groups)
}

function containsCidr(cidr: Cidr, other: Cidr): boolean {
  return other.prefixLength >= cidr.prefixLength && cidr.contains(other.groups)
}

function containsCidrText(cidr: Cidr, text: string): Result {
  const other = parseCidr(text)
  return other instanceof CelError ? other : containsCidr(cidr, other)
}

/** Reports a constant that is not a valid address or network. */
const failsIfConstant =
  (parse: (text: string) => HostObject | CelError): Prepare =>
  ([text]): Implementation | CelError | undefined => {
    if (typeof text !== 'string') return undefined
    const parsed = parse(text)
    return parsed instanceof CelError ? parsed : (): Result => parsed
  }

const isV4 = (address: IpAddress): boolean => address.groups.length === 2

function isUnspecified(address: IpAddress): boolean {
  return address.groups.every((group) => group === 0)
}

function isLoopback(address: IpAddress): boolean {
  if (isV4(address)) return address.groups[0]! >> 8 === 127
  return address.groups.every((group, i) => group === (i === 7 ? 1 : 0))
}

function isMulticast(address: IpAddress): boolean {
  return isV4(address) ? address.groups[0]! >> 12 === 14 : address.groups[0]! >> 8 === 255
}

function isLinkLocal(address: IpAddress): boolean {
  return isV4(address) ? address.groups[0] === 0xa9fe : address.groups[0]! >> 6 === 0x3fa
}

function isBroadcast(address: IpAddress): boolean {
  return isV4(address) && address.groups.every((group) => group === 0xffff)
}

/** IP addresses and networks, as in the CEL library of Kubernetes. */
export const NETWORK_FUNCTIONS: readonly Overload[] = [
  define('ip(string) -> net.IP', parseIp, { prepare: failsIfConstant(parseIp) }),
  define('isIP(string) -> bool', (text: string) => parseIpAddress(text) !== undefined),
  define('ip.isCanonical(string) -> bool', (text: string) => {
    const groups = parseIpAddress(text)
    return groups === undefined ? NOT_IP : formatIpAddress(groups) === text
  }),
  define('string(net.IP) -> string', (address: IpAddress) => address.toJson()),
  define('(net.IP).family() -> int', (address: IpAddress) => (isV4(address) ? 4 : 6)),
  define('(net.IP).isUnspecified() -> bool', isUnspecified),
  define('(net.IP).isLoopback() -> bool', isLoopback),
  define('(net.IP).isLinkLocalMulticast() -> bool', (address: IpAddress) =>
    isV4(address)
      ? address.groups[0] === 0xe000 && address.groups[1]! >> 8 === 0
      : (address.groups[0]! & 0xff0f) === 0xff02,
  ),
  define('(net.IP).isLinkLocalUnicast() -> bool', isLinkLocal),
  define(
    '(net.IP).isGlobalUnicast() -> bool',
    (address: IpAddress) =>
      !isUnspecified(address) &&
      !isLoopback(address) &&
      !isMulticast(address) &&
      !isLinkLocal(address) &&
      !isBroadcast(address),
  ),

  define('cidr(string) -> net.CIDR', parseCidr, { prepare: failsIfConstant(parseCidr) }),
  define('isCIDR(string) -> bool', (text: string) => parseCidr(text) instanceof Cidr),
  define('string(net.CIDR) -> string', (cidr: Cidr) => cidr.toJson()),
  define('(net.CIDR).containsIP(string) -> bool', containsText),
  define('(net.CIDR).containsIP(net.IP) -> bool', (cidr: Cidr, address: IpAddress) => cidr.contains(address.groups)),
  define('(net.CIDR).containsCIDR(string) -> bool', containsCidrText),
  define('(net.CIDR).containsCIDR(net.CIDR) -> bool', containsCidr),
  define('(net.CIDR).ip() -> net.IP', (cidr: Cidr) => new IpAddress(cidr.groups)),
  define(
    '(net.CIDR).masked() -> net.CIDR',
    (cidr: Cidr) => new Cidr(maskAddress(cidr.groups, cidr.prefixLength), cidr.prefixLength),
  ),
  define('(net.CIDR).prefixLength() -> int', (cidr: Cidr) => cidr.prefixLength),
]
