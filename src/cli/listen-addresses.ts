import { isIP } from 'node:net'
import { AddressPool } from '#instance/address-pool.ts'
import type { InstanceOptions } from '#instance/options.ts'
import { UsageError } from './usage-error.ts'

/** Options for the addresses of listeners, which decide which listeners share a port. */
export interface ListenFlags {
  readonly bind: string
  readonly addressPool?: string
}

/** @throws UsageError */
export function listenAddresses({ bind, addressPool }: ListenFlags): Pick<InstanceOptions, 'bind' | 'addressPool'> {
  if (isIP(bind) === 0) throw new UsageError(`--bind ${bind} is not an IP address`)
  if (addressPool !== undefined) checkPool(addressPool)
  return { bind, addressPool }
}

function checkPool(range: string): void {
  try {
    new AddressPool(range)
  } catch (error) {
    throw new UsageError(`--address-pool: ${(error as Error).message}`)
  }
}
