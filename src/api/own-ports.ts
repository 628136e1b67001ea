/** The ports of the gateway's own servers, unless a variable sets another address. */
export const OWN_PORTS = { admin: 15_000, api: 15_010, metrics: 15_020, readiness: 15_021 } as const

/** Where a proxy in a mesh accepts tunnels (HBONE, as Istio uses it). No other proxy has it. */
export const TUNNEL_PORT = 15_008

/** Those of a controller. `delivery`: for proxies. */
export const CONTROLLER_PORTS = { admin: 9095, delivery: 9978, metrics: 9092, readiness: 9093 } as const

/** The servers that only this machine may reach. */
export const LOOPBACK = '127.0.0.1'

/** The default address of the admin server. */
export const ADMIN_ADDRESS: string = `${LOOPBACK}:${OWN_PORTS.admin}`
