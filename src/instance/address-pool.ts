import ipaddr from 'ipaddr.js'
import type { GatewayObject } from '#api/gateway.ts'
import { keyOf } from '#api/object.ts'
import { commonAddress, type GatewayAddresses } from '#control/gateways/check-addresses.ts'
import type { InstanceOptions } from './options.ts'

/** A range that cannot be used as an address pool. */
export class BadAddressPool extends Error {
  override readonly name = 'BadAddressPool'
}

/**
 * Assigns each Gateway its own loopback address, so that several can listen on one port: the address that it asks for in `spec.addresses`,
 * if the address is free, else the lowest free one. A Gateway keeps its address until it is deleted or asks for another.
 */
export class AddressPool implements GatewayAddresses {
  readonly #network: number
  readonly #size: number
  readonly #range: string
  /** By key of the Gateway, the position of its address in the range. The address of the network itself is not assigned. */
  readonly #assigned = new Map<string, number>()
  readonly #taken = new Set<number>([0])
  /** No position below it is free. */
  #lowest = 1

  /** @param range IPv4 in CIDR notation, inside 127.0.0.0/8 */
  constructor(range: string) {
    if (!ipaddr.IPv4.isValidCIDR(range)) throw new BadAddressPool(`${range} is not an IPv4 range such as 127.10.0.0/16`)
    const [address, prefix] = ipaddr.IPv4.parseCIDR(range)
    if (address.range() !== 'loopback' || prefix < 8) throw new BadAddressPool(`${range} is not inside 127.0.0.0/8`)
    if (prefix === 32) throw new BadAddressPool(`${range} has no address for a Gateway; use /31 or a larger range`)
    this.#range = range
    this.#size = 2 ** (32 - prefix)
    this.#network = Math.floor(numberOf(address) / this.#size) * this.#size
  }

  get none(): string {
    return `no address is left in ${this.#range} (--address-pool); delete a Gateway or use a larger range`
  }

  assign(gateway: GatewayObject): string | undefined {
    const key = keyOf(gateway)
    const known = this.#assigned.get(key)
    const position = this.#wantedBy(gateway, known) ?? known ?? this.#nextFree()
    if (position === undefined) return undefined
    if (position !== known) {
      this.release(key)
      this.#assigned.set(key, position)
      this.#taken.add(position)
    }
    const number = this.#network + position
    return [24, 16, 8, 0].map((shift) => Math.floor(number / 2 ** shift) % 256).join('.')
  }

  release(gateway: string): void {
    const position = this.#assigned.get(gateway)
    if (position === undefined) return
    this.#assigned.delete(gateway)
    this.#taken.delete(position)
    this.#lowest = Math.min(this.#lowest, position)
  }

  /** The first free position that the Gateway asks for, unless it has one that it asks for. */
  #wantedBy({ spec }: GatewayObject, known: number | undefined): number | undefined {
    const wanted = (spec.addresses ?? [])
      .filter(({ type, value = '' }) => type === 'IPAddress' && ipaddr.IPv4.isValidFourPartDecimal(value))
      .map(({ value = '' }) => numberOf(ipaddr.IPv4.parse(value)) - this.#network)
    if (known !== undefined && wanted.includes(known)) return known
    return wanted.find((position) => position > 0 && position < this.#size && !this.#taken.has(position))
  }

  #nextFree(): number | undefined {
    while (this.#taken.has(this.#lowest)) this.#lowest++
    return this.#lowest < this.#size ? this.#lowest : undefined
  }
}

function numberOf(address: ipaddr.IPv4): number {
  return address.toByteArray().reduce((sum, byte) => sum * 256 + byte, 0)
}

/** The addresses of the listeners of each Gateway: its own one from the pool, else the common one. */
export function gatewayAddresses({
  bind,
  addressPool,
}: Pick<InstanceOptions, 'bind' | 'addressPool'>): GatewayAddresses {
  return addressPool === undefined ? commonAddress(bind) : new AddressPool(addressPool)
}
