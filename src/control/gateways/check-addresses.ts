import type { GatewaySpec } from '#api/gateway.ts'
import type { Report } from '../reporting.ts'
import type { ConditionFault } from '../status/condition.ts'

/** Why a Gateway does not have the addresses that it asks for; its listeners are served at the address that it has. */
export interface AddressFaults {
  /** An address has a type that is not supported. */
  readonly accepted?: ConditionFault
  /** An address cannot be assigned. */
  readonly programmed?: ConditionFault
}

/** The command line decides the address of a Gateway, so `spec.addresses` can only confirm it. @param address the assigned address */
export function checkAddresses(
  { addresses = [] }: Pick<GatewaySpec, 'addresses'>,
  address: string,
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
    } else if (value !== '' && value !== address) {
      const message = `address ${value} cannot be assigned; the listeners bind to ${address} (--bind, --address-pool)`
      report({ path: `${path}.value`, code: 'address-not-usable', message, severity: 'error' })
      programmed.push({ reason: 'AddressNotUsable', message })
    }
  }
  return {
    ...(accepted[0] === undefined ? {} : { accepted: accepted[0] }),
    ...(programmed[0] === undefined ? {} : { programmed: programmed[0] }),
  }
}
