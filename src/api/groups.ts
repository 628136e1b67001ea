/** The API group of ProxyBackend, ProxyParameters and ProxyPolicy. */
export const OWN_GROUP = 'gatewright.dev'

/** The API group of the Gateway API. */
export const GATEWAY_GROUP = 'gateway.networking.k8s.io'
