/** Name and version of the gateway in `initialize` messages. The version is that of the package. */
export const GATEWAY_INFO = { name: 'gatewright', version: '0.1.0' } as const
