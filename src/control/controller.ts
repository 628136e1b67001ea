/** The `controllerName` in statuses and GatewayClasses. */
export const CONTROLLER_NAME = 'gatewright.dev/controller'

/** The class that does not require a GatewayClass object. */
export const GATEWAY_CLASS = 'gatewright'

export const OWN_GROUP = 'gatewright.dev'
export const GATEWAY_GROUP = 'gateway.networking.k8s.io'
