import { OWN_GROUP } from '#api/groups.ts'

/** How a controller recognizes what belongs to it. Controllers in one cluster differ in both names. */
export interface ControllerNames {
  /** The `controllerName` in its GatewayClasses, and in its entries in statuses. */
  readonly controller: string
  /** The class that does not require a GatewayClass object. */
  readonly gatewayClass: string
}

export const DEFAULT_NAMES: ControllerNames = { controller: `${OWN_GROUP}/controller`, gatewayClass: 'gatewright' }
