import { keyOf } from '#api/object.ts'
import type { GatewayAddresses } from '#control/gateways/check-addresses.ts'
import { nameOfObjects } from '#deploy/names.ts'

/**
 * The addresses of Gateways that proxies in a cluster serve: those of the Service that the controller applies for each. Each Gateway has pods of
 * its own, so that listeners of two Gateways never share a socket; where its sockets are, each proxy decides.
 */
export const BEHIND_SERVICES: GatewayAddresses = {
  assign: keyOf,
  release: () => {},
  none: '',
  serviceOf: ({ metadata: { namespace, name } }) => ({ namespace, name: nameOfObjects(name) }),
}
