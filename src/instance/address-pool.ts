import ipaddr from 'ipaddr.js'
import type { GatewayObject } from '#api/gateway.ts'
import type { InstanceOptions } from './options.ts'

/** A range that cannot be used as an address pool. */
export class BadAddressPool extends Error {
  override readonly name = 'BadAddressPool'
}

/**
 * Assigns each Gateway its own loopback address, so that several can listen on one port. Addresses are assigned in the order in which
 * Gateways are first seen, and stay the same for the life of the process.
 */
export class AddressPool {
  readonly #network: number
  readonly #size: number
  readonly #given = new Map<string, string>()

  /** @param range IPv4 in CIDR notation, inside 127.0.0.0/8 */
  constructor(range: string) {
    if (!ipaddr.IPv4.isValidCIDR(range)) throw new BadAddressPool(`${range} is not an IPv4 range such as 127.10.0.0/16`)
    const [address, prefix] = ipaddr.IPv4.parseCIDR(range)
    if (address.range() !== 'loopback' || prefix < 8) throw new BadAddressPool(`${range} is not inside 127.0.0.0/8`)
    this.#size = 2 ** (32 - prefix)
    const number = address.toByteArray().reduce((sum, byte) => sum * 256 + byte, 0)
    this.#network = Math.floor(number / this.#size) * this.#size
  }

  /** @param gateway `namespace/name` */
  addressOf(gateway: string): string {
    const known = this.#given.get(gateway)
    if (known !== undefined) return known
    // The address of the network itself is skipped.
    const next = this.#given.size + 1
    if (next >= this.#size) throw new BadAddressPool(`no address is left for Gateway ${gateway}`)
    const number = this.#network + next
    const address = [24, 16, 8, 0].map((shift) => Math.floor(number / 2 ** shift) % 256).join('.')
    this.#given.set(gateway, address)
    return address
  }
}

/** The address of the listeners of each Gateway: its own one from the pool, else the common one. */
export function gatewayAddresses({
  bind,
  addressPool,
}: Pick<InstanceOptions, 'bind' | 'addressPool'>): (gateway: Pick<GatewayObject, 'metadata'>) => string {
  if (addressPool === undefined) return () => bind
  const pool = new AddressPool(addressPool)
  return ({ metadata }) => pool.addressOf(`${metadata.namespace}/${metadata.name}`)
}
