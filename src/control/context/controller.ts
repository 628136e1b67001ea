import { OWN_GROUP } from '#api/groups.ts'

/** The `controllerName` in statuses and GatewayClasses. */
export const CONTROLLER_NAME = `${OWN_GROUP}/controller`

/** The class that does not require a GatewayClass object. */
export const GATEWAY_CLASS = 'gatewright'
