import type { GatewayObject, GatewaySpec } from '#api/gateway.ts'
import type { ConditionFault } from '../context/condition.ts'
import type { Report } from '../context/reporting.ts'
import type { StatusAddress } from './service-addresses.ts'

/** Assigns addresses to Gateways. */
export interface GatewayAddresses {
  /** @returns undefined if no address is left */
  assign(gateway: GatewayObject): string | undefined
  /** @param gateway key of a Gateway that was deleted */
  release(gateway: string): void
  /** Why no address is left. */
  readonly none: string
  /** The Service in front of the listeners of a Gateway, whose addresses clients use; default: they use the assigned address. */
  readonly serviceOf?: (gateway: GatewayObject) => { readonly namespace: string; readonly name: string }
}

/** One address for all Gateways. */
export function commonAddress(address: string): GatewayAddresses {
  return { assign: () => address, release: () => {}, none: '' }
}

/** Why a Gateway does not have the addresses that it asks for; its listeners are served at the address that it has. */
export interface AddressFaults {
  /** An address has a type that is not supported. */
  readonly accepted?: ConditionFault
  /** An address cannot be assigned. */
  readonly programmed?: ConditionFault
}

/** The command line, or the Service in front of it, decides which addresses a Gateway has. @param has these, and why no others */
export function checkAddresses(
  { addresses = [] }: Pick<GatewaySpec, 'addresses'>,
  has: { readonly addresses: readonly StatusAddress[]; readonly why: string },
  report: Report,
): AddressFaults {
  const accepted: ConditionFault[] = []
  const programmed: ConditionFault[] = []
  for (const [index, { type, value = '' }] of addresses.entries()) {
    const path = `spec.addresses[${index}]`
    if (type !== 'IPAddress') {
      const message = `addresses of type ${type} are not supported; use IPAddress`
      report({ path: `${path}.type`, code: 'address-not-usable', message, severity: 'error' })
      accepted.push({ reason: 'UnsupportedAddress', message })
    } else if (value !== '' && !has.addresses.some((address) => address.value === value)) {
      const message = `address ${value} cannot be assigned; ${has.why}`
      report({ path: `${path}.value`, code: 'address-not-usable', message, severity: 'error' })
      programmed.push({ reason: 'AddressNotUsable', message })
    }
  }
  return {
    ...(accepted[0] === undefined ? {} : { accepted: accepted[0] }),
    ...(programmed[0] === undefined ? {} : { programmed: programmed[0] }),
  }
}
