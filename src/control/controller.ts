/** What this controller calls itself in statuses and in GatewayClass objects. */
export const CONTROLLER_NAME = 'gatewright.dev/controller'

/** The class that exists without an object. */
export const GATEWAY_CLASS = 'gatewright'

export const OWN_GROUP = 'gatewright.dev'
export const GATEWAY_GROUP = 'gateway.networking.k8s.io'
