/** The address and port of a listening socket. */
export interface SocketAddress {
  readonly address: string
  readonly port: number
}

/** The servers of the gateway that carry no traffic. */
export type OperatorServer = 'admin' | 'api' | 'metrics' | 'readiness'

/** The socket of a server for operators. */
export interface OperatorSocket extends SocketAddress {
  readonly server: OperatorServer
}

/** The machine of the gateway, as far as destinations can lead to it. Addresses are in their canonical form. */
export interface OwnMachine {
  /** Whether a listener for traffic has that socket. */
  isListener(address: string, port: number): boolean
  /** The server for operators that has that socket. */
  serverAt(address: string, port: number): OperatorServer | undefined
  /** Whether an interface of the machine has the address. */
  hasAddress(address: string): boolean
}

/** Where the sockets of the gateway are not known. */
export const UNKNOWN_MACHINE: OwnMachine = {
  isListener: () => false,
  serverAt: () => undefined,
  hasAddress: () => false,
}
