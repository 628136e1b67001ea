/** How the gateway introduces itself where it speaks for several targets. The version is that of the package. */
export const GATEWAY_INFO = { name: 'gatewright', version: '0.1.0' } as const
